import { readFile } from "node:fs/promises";
import type { Row, TableDefinition } from "../../tools/lance-tables.ts";

/**
 * The quickstart's tables, from the public data sets of the npm package `vega-datasets`: movies (vectors, full-text
 * index, vector index), cars (a version for each place of origin) and penguins (in a nested namespace).
 */
type Json = Readonly<Record<string, unknown>>;

const source = async (file: string): Promise<string> =>
  readFile(new URL(`../data/${file}`, import.meta.resolve("vega-datasets")), "utf8");

const number = (value: unknown): number | null => {
  const read = typeof value === "number" ? value : Number.parseFloat(String(value));
  return Number.isFinite(read) ? read : null;
};

const text = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

/** Scales each feature to 0…1 over all rows; a missing value becomes 0.5. */
const scaled = (rows: readonly Json[], features: readonly string[]): number[][] => {
  const ranges = features.map((feature) => {
    const known = rows.map((row) => number(row[feature])).filter((value) => value !== null);
    return { feature, min: Math.min(...known), max: Math.max(...known) };
  });
  return rows.map((row) =>
    ranges.map(({ feature, min, max }) => {
      const value = number(row[feature]);
      return value === null || max === min ? 0.5 : (value - min) / (max - min);
    }),
  );
};

const movieFeatures = [
  "US Gross",
  "Worldwide Gross",
  "Production Budget",
  "Running Time min",
  "Rotten Tomatoes Rating",
  "IMDB Rating",
  "IMDB Votes",
  "US DVD Sales",
];

const movies = async (): Promise<TableDefinition> => {
  const all: Json[] = JSON.parse(await source("movies.json"));
  const vectors = scaled(all, movieFeatures);
  const rows = all.map(
    (movie, index): Row => ({
      id: BigInt(index),
      title: text(movie.Title) ?? "",
      director: text(movie.Director),
      genre: text(movie["Major Genre"]),
      rating: text(movie["MPAA Rating"]),
      imdb: number(movie["IMDB Rating"]),
      vector: vectors[index] ?? [],
    }),
  );
  return {
    namespace: [],
    name: "movies",
    columns: {
      id: "integer",
      title: "text",
      director: "text",
      genre: "text",
      rating: "text",
      imdb: "number",
      vector: { vector: movieFeatures.length },
    },
    batches: [rows.slice(0, 3000), rows.slice(3000)],
    indices: [
      { column: "vector", kind: "ivf_pq" },
      { column: "title", kind: "full_text" },
      { column: "id", kind: "btree" },
    ],
  };
};

const carFeatures = ["Miles_per_Gallon", "Cylinders", "Displacement", "Horsepower", "Weight_in_lbs", "Acceleration"];

const cars = async (): Promise<TableDefinition> => {
  const all: Json[] = JSON.parse(await source("cars.json"));
  const vectors = scaled(all, carFeatures);
  const rows = all.map((car, index) => ({
    id: BigInt(index),
    name: text(car.Name),
    origin: text(car.Origin),
    horsepower: number(car.Horsepower),
    built: new Date(String(car.Year)),
    vector: vectors[index] ?? [],
  }));
  return {
    namespace: [],
    name: "cars",
    columns: {
      id: "integer",
      name: "text",
      origin: "text",
      horsepower: "number",
      built: "date",
      vector: { vector: carFeatures.length },
    },
    batches: ["USA", "Europe", "Japan"].map((origin) => rows.filter((row) => row.origin === origin)),
    indices: [{ column: "origin", kind: "bitmap" }],
  };
};

const penguinFeatures = ["Beak Length (mm)", "Beak Depth (mm)", "Flipper Length (mm)", "Body Mass (g)"];

const penguins = async (): Promise<TableDefinition> => {
  const all: Json[] = JSON.parse(await source("penguins.json"));
  const vectors = scaled(all, penguinFeatures);
  const rows = all.map(
    (penguin, index): Row => ({
      species: text(penguin.Species),
      island: text(penguin.Island),
      sex: text(penguin.Sex),
      mass: number(penguin["Body Mass (g)"]),
      vector: vectors[index] ?? [],
    }),
  );
  return {
    namespace: ["antarctica", "palmer"],
    name: "penguins",
    columns: {
      species: "text",
      island: "text",
      sex: "text",
      mass: "number",
      vector: { vector: penguinFeatures.length },
    },
    batches: [rows],
    indices: [{ column: "species", kind: "full_text" }],
  };
};

/** @throws when the package `vega-datasets` is not installed (`npm ci --omit=dev`). */
export const quickstartTables = (): Promise<TableDefinition[]> => Promise.all([movies(), cars(), penguins()]);
