"""The Python client that is generated from the specification (lance-namespace-urllib3-client), each of its operations."""

import inspect
from typing import Any

from catalog import Call, Catalog, Faults, camel
from catalog_data import queries, tables
from catalog_names import namespaces, references
from catalog_refused import refusals
from catalog_writes import writes
from lance_namespace_urllib3_client import ApiClient, Configuration, api, exceptions, models
from report import ENDPOINT, KEYS, Report, same

APIS = [kind for name, kind in inspect.getmembers(api, inspect.isclass) if name.endswith("Api")]
VARIANTS = ("_with_http_info", "_without_preload_content")
OPERATIONS = {
    name: kind
    for kind in APIS
    for name, _ in inspect.getmembers(kind, inspect.isfunction)
    if not name.startswith("_") and not name.endswith(VARIANTS)
}
seen: set[str] = set()


def caller(key: str) -> Call:
    client = ApiClient(Configuration(host=ENDPOINT, access_token=key))

    def call(operation: str, of: list[str] | None, **fields: Any) -> Any:
        seen.add(operation)
        ask = getattr(OPERATIONS[operation](client), operation)
        takes = inspect.signature(ask).parameters
        path = {} if of is None else {"id": "$".join(of) or "$"}
        if operation == "update_table_schema_metadata":
            return ask(**path, request_body=fields["metadata"])
        if "index_name" in takes:
            path["index_name"] = fields.pop("index_name")
        request = next((name for name in takes if name.endswith("_request")), None)
        if request is None:
            return ask(**path, **fields)
        return ask(**path, **{request: getattr(models, camel(request.removesuffix("_request")))(**fields)})

    return call


catalog = Catalog(
    report=Report("Python generated", "lance-namespace-urllib3-client"),
    faults=Faults(
        no_namespace=exceptions.NotFoundException,
        no_table=exceptions.NotFoundException,
        no_tag=exceptions.NotFoundException,
        no_version=exceptions.NotFoundException,
        no_index=exceptions.NotFoundException,
        no_column=exceptions.NotFoundException,
        no_branch=exceptions.NotFoundException,
        tag_exists=exceptions.ConflictException,
        table_exists=exceptions.ConflictException,
        namespace_exists=exceptions.ConflictException,
        namespace_not_empty=exceptions.ConflictException,
        branch_exists=exceptions.ConflictException,
        bad_rows=exceptions.BadRequestException,
        bad_input=exceptions.BadRequestException,
        not_known=exceptions.UnauthorizedException,
        not_permitted=exceptions.ForbiddenException,
        # It has no class for 406, so this is the base class itself.
        unsupported=exceptions.ApiException,
    ),
    call=caller(KEYS["all"]),
    call_with=caller,
    rows=bytes,
)

tables(catalog)
queries(catalog)
references(catalog)
namespaces(catalog)
writes(catalog, set())
refusals(catalog, set())


@catalog.report.case("methods", "each was asked")
def _() -> None:
    same(sorted(set(OPERATIONS) - seen), [])
