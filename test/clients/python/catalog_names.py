"""Cases of tags, versions, branches, indices, tables and namespaces."""

from typing import Any

from catalog import AWKWARD_ID, NESTED_ID, Catalog
from report import AWKWARD, DOCS, KEYS, NESTED, PLAIN, fails, holds, same


def references(catalog: Catalog) -> None:
    case, call, faults = catalog.report.case, catalog.call, catalog.faults

    @case("tags/create", "a name for a version, on a branch")
    def _() -> None:
        call("create_table_tag", ["docs"], tag="v1", version=1)
        same(call("get_table_tag_version", ["docs"], tag="v1").version, 1)
        version = call("describe_table", ["docs"], branch="experiment").version
        call("create_table_tag", ["docs"], tag="trial", version=version, branch="experiment")

    @case("tags/create", "a name that is taken or cannot be, a version that is not there")
    def _() -> None:
        fails(faults.tag_exists, lambda: call("create_table_tag", ["docs"], tag="v1", version=2))
        fails(faults.bad_input, lambda: call("create_table_tag", ["docs"], tag="../x", version=1))
        fails(faults.no_version, lambda: call("create_table_tag", ["docs"], tag="late", version=99))
        fails(faults.no_table, lambda: call("create_table_tag", ["nope"], tag="v1", version=1))

    @case("tags/version", "one that is not there")
    def _() -> None:
        same(call("get_table_tag_version", ["docs"], tag="v1").version, 1)
        fails(faults.no_tag, lambda: call("get_table_tag_version", ["docs"], tag="nope"))

    @case("tags/list", "names, versions and branches, in pages")
    def _() -> None:
        tags = call("list_table_tags", ["docs"]).tags
        same({name: (tag.version, tag.branch) for name, tag in tags.items() if name == "v1"}, {"v1": (1, None)})
        same(tags["trial"].branch, "experiment")
        same(sorted(tags), ["trial", "v1"])
        first = call("list_table_tags", ["docs"], limit=1)
        second = call("list_table_tags", ["docs"], limit=1, page_token=first.page_token)
        same([*first.tags, *second.tags], ["trial", "v1"])
        same(call("list_table_tags", ["plain"]).tags, {})

    @case("tags/list", "a table that is not there")
    def _() -> None:
        fails(faults.no_table, lambda: call("list_table_tags", ["nope"]))

    @case("tags/update", "another version; a tag or version that is not there")
    def _() -> None:
        call("update_table_tag", ["docs"], tag="v1", version=2)
        same(call("get_table_tag_version", ["docs"], tag="v1").version, 2)
        fails(faults.no_tag, lambda: call("update_table_tag", ["docs"], tag="nope", version=1))
        fails(faults.no_version, lambda: call("update_table_tag", ["docs"], tag="v1", version=99))

    @case("tags/delete", "a tag, and once more")
    def _() -> None:
        for tag in ("v1", "trial"):
            call("delete_table_tag", ["docs"], tag=tag)
        fails(faults.no_tag, lambda: call("delete_table_tag", ["docs"], tag="v1"))
        same(call("list_table_tags", ["docs"]).tags, {})

    @case("version/list", "all, from either end, in pages")
    def _() -> None:
        every = list(range(1, PLAIN["versions"] + 1))

        def listed(**fields: Any) -> list[int]:
            return [entry.version for entry in call("list_table_versions", ["plain"], **fields).versions]

        same(sorted(listed()), every)
        same(listed(descending=True), every[::-1])
        first = call("list_table_versions", ["plain"], descending=True, limit=4)
        same([entry.version for entry in first.versions], every[:-5:-1])
        same(listed(descending=True, limit=4, page_token=first.page_token), every[-5:-9:-1])
        holds(all(entry.manifest_path for entry in first.versions), "a version without its manifest")

    @case("version/list", "a table that is not there")
    def _() -> None:
        fails(faults.no_table, lambda: call("list_table_versions", ["nope"]))

    @case("version/describe", "one, and one that is not there")
    def _() -> None:
        same(call("describe_table_version", ["plain"], version=3).version.version, 3)
        fails(faults.no_version, lambda: call("describe_table_version", ["plain"], version=99))

    @case("branches/list", "the branches; a table that is not there")
    def _() -> None:
        same(list(call("list_table_branches", ["docs"]).branches), ["experiment"])
        same(call("list_table_branches", ["plain"]).branches, {})
        fails(faults.no_table, lambda: call("list_table_branches", ["nope"]))

    @case("index/list", "names and columns; none; a table that is not there")
    def _() -> None:
        indices = call("list_table_indices", ["docs"]).indexes
        expected = sorted((index["name"], index["columns"]) for index in DOCS["indices"])
        same(sorted((index.index_name, index.columns) for index in indices), expected)
        same(call("list_table_indices", ["plain"]).indexes, [])
        fails(faults.no_table, lambda: call("list_table_indices", ["nope"]))

    @case("index/{index_name}/stats", "of a vector index; one that is not there")
    def _() -> None:
        answer = call("describe_table_index_stats", ["docs"], index_name="vector_idx")
        index = DOCS["vectorIndex"]
        same((answer.num_indexed_rows, answer.num_unindexed_rows), (index["numIndexedRows"], index["numUnindexedRows"]))
        same((answer.index_type, answer.distance_type), (index["indexType"], index["distanceType"]))
        fails(faults.no_index, lambda: call("describe_table_index_stats", ["docs"], index_name="nope"))


def namespaces(catalog: Catalog) -> None:
    case, call, faults = catalog.report.case, catalog.call, catalog.faults

    @case("namespace/table/list", "of the root, of a namespace, in pages; of one that is not there")
    def _() -> None:
        same(sorted(call("list_tables", []).tables), ["docs", "plain"])
        same(call("list_tables", NESTED["namespace"]).tables, [NESTED["name"]])
        first = call("list_tables", [], limit=1)
        same([*first.tables, *call("list_tables", [], limit=1, page_token=first.page_token).tables], ["docs", "plain"])
        fails(faults.no_namespace, lambda: call("list_tables", ["nope"]))

    @case("namespace/table/list", "only what the key permits")
    def _() -> None:
        same(catalog.call_with(KEYS["docsStats"])("list_tables", []).tables, ["docs"])

    @case("/table", "every table by its whole id, in pages")
    def _() -> None:
        every = ["docs", "plain", "$".join(AWKWARD_ID), "$".join(NESTED_ID)]
        same(call("list_all_tables", None).tables, every)
        first = call("list_all_tables", None, limit=2)
        same(call("list_all_tables", None, limit=2, page_token=first.page_token).tables, every[2:])

    @case("namespace/list", "of the root, of a namespace; of one that is not there")
    def _() -> None:
        same(call("list_namespaces", []).namespaces, ["prod"])
        same(call("list_namespaces", ["prod"]).namespaces, ["vectors"])
        same(call("list_namespaces", NESTED["namespace"]).namespaces, AWKWARD["namespace"][-1:])
        same(call("list_namespaces", AWKWARD["namespace"]).namespaces, [])
        fails(faults.no_namespace, lambda: call("list_namespaces", ["nope"]))

    @case("namespace/describe", "one; one that is not there")
    def _() -> None:
        same(call("describe_namespace", ["prod"]).properties or {}, {})
        fails(faults.no_namespace, lambda: call("describe_namespace", ["nope"]))

    @case("namespace/exists", "one; one that is not there")
    def _() -> None:
        call("namespace_exists", ["prod", "vectors"])
        fails(faults.no_namespace, lambda: call("namespace_exists", ["nope"]))
