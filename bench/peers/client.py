"""Asks a server each operation by pylance's own REST client. Arguments: address, token. Prints JSON: operation -> fault or null."""

import json
import sys
from collections.abc import Callable

from lance.namespace import RestNamespace
from lance_namespace_urllib3_client import models as m

address, token = sys.argv[1:]
namespace = RestNamespace(uri=address, **{"headers.authorization": f"Bearer {token}"})
TABLE = ["narrow"]
search = {"k": 10, "vector": m.QueryTableRequestVector(single_vector=[0.5] * 128), "vector_column": "vector"}

OPERATIONS: dict[str, Callable[[], object]] = {
    "explain_plan": lambda: namespace.explain_table_query_plan(
        m.ExplainTableQueryPlanRequest(id=TABLE, query=m.QueryTableRequest(**search))
    ),
    "analyze_plan": lambda: namespace.analyze_table_query_plan(m.AnalyzeTableQueryPlanRequest(id=TABLE, **search)),
    "query": lambda: namespace.query_table(m.QueryTableRequest(id=TABLE, **search).model_dump(exclude_none=True)),
    "stats": lambda: namespace.get_table_stats(m.GetTableStatsRequest(id=TABLE)),
    "tags/create": lambda: namespace.create_table_tag(m.CreateTableTagRequest(id=TABLE, tag="client", version=1)),
    "tags/version": lambda: namespace.get_table_tag_version(m.GetTableTagVersionRequest(id=TABLE, tag="client")),
    "tags/list": lambda: namespace.list_table_tags(m.ListTableTagsRequest(id=TABLE)),
    "tags/delete": lambda: namespace.delete_table_tag(m.DeleteTableTagRequest(id=TABLE, tag="client")),
    "describe": lambda: namespace.describe_table(m.DescribeTableRequest(id=TABLE)),
    "exists": lambda: namespace.table_exists(m.TableExistsRequest(id=TABLE)),
    "count_rows": lambda: namespace.count_table_rows(m.CountTableRowsRequest(id=TABLE)),
    "version/list": lambda: namespace.list_table_versions(m.ListTableVersionsRequest(id=TABLE)),
    "index/list": lambda: namespace.list_table_indices(m.ListTableIndicesRequest(id=TABLE)),
    "table list": lambda: namespace.list_tables(m.ListTablesRequest(id=[])),
    "namespace list": lambda: namespace.list_namespaces(m.ListNamespacesRequest(id=[])),
}


def fault(ask: Callable[[], object]) -> str | None:
    try:
        ask()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


print(json.dumps({name: fault(ask) for name, ask in OPERATIONS.items()}))
