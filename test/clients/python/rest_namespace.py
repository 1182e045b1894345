"""pylance's REST namespace, as `lance_namespace.connect("rest")` makes it, each of its operations."""

from typing import Any

import lance
import lance_namespace
from catalog import NESTED_ID, Call, Catalog, Faults, camel
from catalog_data import queries, tables
from catalog_names import namespaces, references
from catalog_refused import refusals
from catalog_writes import writes
from lance.namespace import RestNamespace
from lance_namespace import errors
from lance_namespace_urllib3_client import models
from report import DOCS, ENDPOINT, KEYS, NESTED, Report, same, unseen

seen: set[str] = set()

# Requests that it takes as a mapping, not as a model, and names that differ from the operation's.
MAPPINGS = {"describe_table_version", "create_table_version", "batch_delete_table_versions", "query_table"}
REQUESTS = {"list_all_tables": "ListTablesRequest", "create_table_scalar_index": "CreateTableIndexRequest"}


def properties(key: str) -> dict[str, str]:
    return {"uri": ENDPOINT, "headers.authorization": f"Bearer {key}"}


def caller(key: str) -> Call:
    namespace = lance_namespace.connect("rest", properties(key))

    def call(operation: str, of: list[str] | None, *, body: bytes | None = None, **fields: Any) -> Any:
        seen.add(operation)
        request = getattr(models, REQUESTS.get(operation, camel(operation)))(
            **({} if of is None else {"id": of}), **fields
        )
        asked = request.model_dump(exclude_none=True) if operation in MAPPINGS else request
        answer = getattr(namespace, operation)(asked, *(() if body is None else (body,)))
        described = operation == "describe_table_version" and isinstance(answer, dict)
        return models.DescribeTableVersionResponse.from_dict(answer) if described else answer

    return call


catalog = Catalog(
    report=Report("pylance REST namespace", "pylance"),
    faults=Faults(
        no_namespace=errors.NamespaceNotFoundError,
        no_table=errors.TableNotFoundError,
        no_tag=errors.TableTagNotFoundError,
        no_version=errors.TableVersionNotFoundError,
        no_index=errors.TableIndexNotFoundError,
        no_column=errors.TableColumnNotFoundError,
        no_branch=errors.TableBranchNotFoundError,
        tag_exists=errors.TableTagAlreadyExistsError,
        table_exists=errors.TableAlreadyExistsError,
        namespace_exists=errors.NamespaceAlreadyExistsError,
        namespace_not_empty=errors.NamespaceNotEmptyError,
        branch_exists=errors.TableBranchAlreadyExistsError,
        bad_rows=errors.TableSchemaValidationError,
        bad_input=errors.InvalidInputError,
        not_known=errors.UnauthenticatedError,
        not_permitted=errors.PermissionDeniedError,
        unsupported=errors.UnsupportedOperationError,
    ),
    call=caller(KEYS["all"]),
    call_with=caller,
    rows=lambda answer: answer.data,
)

# The client itself has no request for these.
LOCAL = {"batch_commit_tables", "batch_create_table_versions", "update_field_metadata", "create_empty_table"}

tables(catalog)
queries(catalog)
references(catalog)
namespaces(catalog)
writes(catalog, LOCAL)
refusals(catalog, LOCAL)


@catalog.report.case("describe", "a data set opened through it, read from where it lies")
def _() -> None:
    namespace = lance_namespace.connect("rest", properties(KEYS["all"]))
    same(lance.dataset(namespace_client=namespace, table_id=["docs"]).count_rows(), DOCS["rows"])
    same(lance.dataset(namespace_client=namespace, table_id=NESTED_ID).count_rows(), NESTED["rows"])


@catalog.report.case("methods", "each was asked, or asks no service")
def _() -> None:
    same(unseen(RestNamespace, seen, LOCAL | {"namespace_id", "reset_ops_metrics", "retrieve_ops_metrics"}), [])
