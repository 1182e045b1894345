//! The Rust client that is generated from the catalog's specification, each of its operations, on a running service.

mod calls;
mod data;
mod names;
mod refused;
mod report;
mod world;
mod writes;

pub use world::World;

/// The client's name in the matrix.
pub const CLIENT: &str = "Rust generated";

fn main() {
    let world = World::read();
    world::block_on(async {
        report::introduce(world::client_version(include_str!("../Cargo.lock")));
        data::run(&world).await;
        names::run(&world).await;
        writes::run(&world).await;
        refused::run(&world).await;
    });
}
