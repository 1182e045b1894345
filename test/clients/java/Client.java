import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import org.lance.namespace.client.apache.ApiClient;
import org.lance.namespace.client.apache.ApiException;
import org.lance.namespace.client.apache.api.DataApi;
import org.lance.namespace.client.apache.api.IndexApi;
import org.lance.namespace.client.apache.api.MaterializedViewApi;
import org.lance.namespace.client.apache.api.MetadataApi;
import org.lance.namespace.client.apache.api.NamespaceApi;
import org.lance.namespace.client.apache.api.TableApi;
import org.lance.namespace.client.apache.api.TagApi;
import org.lance.namespace.client.apache.api.TransactionApi;

/**
 * The Java client that is generated from the catalog's specification, each of its operations, on a running service. Java
 * runs this file as it is.
 */
public final class Client {
  private static final String NAME = "Java generated";
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final BufferedReader ACKNOWLEDGEMENTS = new BufferedReader(new InputStreamReader(System.in));

  private static final List<Class<?>> APIS =
      List.of(
          TableApi.class, TagApi.class, IndexApi.class, NamespaceApi.class,
          DataApi.class, MetadataApi.class, MaterializedViewApi.class, TransactionApi.class);

  /** A case's check. */
  private interface Check {
    void run() throws Exception;
  }

  /** The calls of one key. */
  private record Caller(ApiClient client, TreeSet<String> seen) {
    /**
     * Calls an operation: `path` is its ids, `request` the JSON of its body, `query` what follows the request. What is
     * missing of its parameters is null.
     */
    Object call(String operation, List<String> path, Object request, Object... query) throws Exception {
      seen.add(operation);
      Method method = METHODS.get(operation);
      Class<?>[] types = method.getParameterTypes();
      Object[] values = new Object[types.length];
      int next = 0;
      for (String part : path) values[next++] = part;
      int following = 0;
      for (; next < types.length; next++) {
        if (types[next].getName().startsWith("org.lance.namespace.model."))
          values[next] = client.getObjectMapper().readValue((String) request, types[next]);
        else if (types[next] == byte[].class || types[next] == Map.class) values[next] = request;
        else if (following < query.length) values[next] = query[following++];
      }
      Object api = method.getDeclaringClass().getConstructor(ApiClient.class).newInstance(client);
      try {
        return method.invoke(api, values);
      } catch (InvocationTargetException failure) {
        if (failure.getCause() instanceof Exception cause) throw cause;
        throw failure;
      }
    }

    /** The same, with the result as JSON. */
    JsonNode read(String operation, List<String> path, Object request, Object... query) throws Exception {
      return client.getObjectMapper().valueToTree(call(operation, path, request, query));
    }
  }

  /** Of each operation the method with the fewest parameters: the others take headers. */
  private static final Map<String, Method> METHODS = new TreeMap<>();

  static {
    for (Class<?> api : APIS)
      Arrays.stream(api.getDeclaredMethods())
          .filter(method -> Arrays.asList(method.getExceptionTypes()).contains(ApiException.class))
          .filter(method -> !method.getName().equals("invokeAPI"))
          .sorted(Comparator.comparingInt(Method::getParameterCount))
          .forEach(method -> METHODS.putIfAbsent(method.getName(), method));
  }

  private static void print(Map<String, ?> line) throws Exception {
    System.out.println(JSON.writeValueAsString(line));
    System.out.flush();
    ACKNOWLEDGEMENTS.readLine();
  }

  private static void check(String operation, String name, Check check) throws Exception {
    String fault = "";
    try {
      check.run();
    } catch (Exception | AssertionError failure) {
      fault = String.valueOf(failure);
    }
    String detail = fault.length() > 400 ? fault.substring(0, 400) : fault;
    print(Map.of("client", NAME, "operation", operation, "case", name, "ok", fault.isEmpty(), "detail", detail));
  }

  private static void same(Object actual, Object expected) {
    if (!Objects.equals(actual, expected)) throw new AssertionError(actual + " is not " + expected);
  }

  private static void holds(boolean condition, String what) {
    if (!condition) throw new AssertionError(what);
  }

  /** Checks that a call fails with this status and this code of the catalog. */
  private static void fails(int status, int code, Check call) throws Exception {
    try {
      call.run();
    } catch (ApiException failure) {
      same(failure.getCode() + " " + JSON.readTree(failure.getResponseBody()).path("code"), status + " " + code);
      return;
    }
    throw new AssertionError("it was expected to fail with " + status);
  }

  /** Values of a field of each element. */
  private static List<String> texts(JsonNode list) {
    List<String> found = new ArrayList<>();
    list.forEach(entry -> found.add(entry.asText()));
    return found;
  }

  private static List<String> names(JsonNode object) {
    List<String> found = new ArrayList<>();
    object.fieldNames().forEachRemaining(found::add);
    Collections.sort(found);
    return found;
  }

  private final JsonNode world;
  private final TreeSet<String> seen = new TreeSet<>();
  private final Caller all;
  private final Caller limited;
  private final List<String> docs = List.of("docs");
  private final List<String> plain = List.of("plain");
  private final List<String> missing = List.of("nope");

  private Client(JsonNode world) {
    this.world = world;
    all = caller(world.at("/keys/all").asText());
    limited = caller(world.at("/keys/docsStats").asText());
  }

  private Caller caller(String key) {
    ApiClient client = new ApiClient();
    client.setBasePath(world.get("endpoint").asText());
    client.setBearerToken(key);
    return new Caller(client, seen);
  }

  private JsonNode fact(String path) {
    return world.at(path);
  }

  private String id(String of) {
    List<String> parts = texts(fact(of + "/namespace"));
    parts.add(fact(of + "/name").asText());
    return String.join("$", parts);
  }

  private String nearest(String more) {
    return "{\"k\":4,\"vector\":{\"single_vector\":" + fact("/docs/vector")
        + "},\"vector_column\":\"vector\",\"bypass_vector_index\":true" + more + "}";
  }

  private static String some(String more) {
    return "{\"k\":4,\"vector\":{}" + more + "}";
  }

  private static final List<String> TEXTS =
      List.of(
          ",\"full_text_query\":{\"string_query\":{\"query\":\"puppy\",\"columns\":[\"text\"]}}",
          ",\"full_text_query\":{\"structured_query\":{\"query\":{\"match\":{\"terms\":\"puppy\",\"column\":\"text\"}}}}");

  private void tables() throws Exception {
    check("describe", "version, place and schema; in a namespace; at a version", () -> {
      JsonNode answer = all.read("describeTable", docs, "{}");
      same(answer.get("version").asLong(), fact("/docs/version").asLong());
      holds(answer.get("location").asText().contains("docs.lance"), "the location is not the table's");
      same(answer.at("/schema/fields").size(), fact("/docs/columns").size());
      same(all.read("describeTable", List.of(id("/nested")), "{}").get("version").asLong(), 2L);
      same(all.read("describeTable", plain, "{\"version\":3}").get("version").asLong(), 3L);
    });
    check("describe", "a table, a namespace, a version that is not there; keys", () -> {
      fails(404, 4, () -> all.call("describeTable", missing, "{}"));
      fails(404, 1, () -> all.call("describeTable", List.of("nope$docs"), "{}"));
      fails(404, 11, () -> all.call("describeTable", docs, "{\"version\":99}"));
      fails(401, 16, () -> caller("unknown").call("describeTable", docs, "{}"));
      fails(403, 15, () -> limited.call("describeTable", plain, "{}"));
    });
    check("exists", "one that is there, some that are not", () -> {
      all.call("tableExists", docs, "{}");
      all.call("tableExists", List.of(id("/nested")), "{}");
      fails(404, 4, () -> all.call("tableExists", missing, "{}"));
      fails(404, 1, () -> all.call("tableExists", List.of("nope$docs"), "{}"));
    });
    check("stats", "of a table, in a namespace; of an id with blanks and signs", () -> {
      JsonNode answer = all.read("getTableStats", docs, "{}");
      same(answer.get("num_rows").asLong(), fact("/docs/rows").asLong());
      same(answer.get("total_bytes").asLong(), fact("/docs/bytes").asLong());
      same(answer.at("/fragment_stats/num_fragments").asLong(), fact("/docs/fragments").asLong());
      for (String of : List.of("/nested", "/awkward"))
        same(all.read("getTableStats", List.of(id(of)), "{}").get("num_rows").asLong(), fact(of + "/rows").asLong());
    });
    check("stats", "a table that is not there, an id that differs from the path", () -> {
      fails(404, 4, () -> all.call("getTableStats", missing, "{}"));
      fails(400, 13, () -> all.call("getTableStats", docs, "{\"id\":[\"plain\"]}"));
    });
    check("count_rows", "all, some, at a version", () -> {
      same(all.call("countTableRows", docs, "{}"), fact("/docs/rows").asLong());
      same(all.call("countTableRows", docs, "{\"predicate\":\"id < 10\"}"), 10L);
      same(all.call("countTableRows", plain, "{\"version\":3}"), 3 * fact("/plain/rowsPerVersion").asLong());
    });
    check("count_rows", "no SQL, no such column, version, table", () -> {
      fails(400, 13, () -> all.call("countTableRows", docs, "{\"predicate\":\"id >\"}"));
      fails(404, 12, () -> all.call("countTableRows", docs, "{\"predicate\":\"nope = 1\"}"));
      fails(404, 11, () -> all.call("countTableRows", docs, "{\"version\":99}"));
      fails(404, 4, () -> all.call("countTableRows", missing, "{}"));
    });
  }

  private String explained(String query) throws Exception {
    return (String) all.call("explainTableQueryPlan", docs, "{\"query\":" + query + "}");
  }

  private String analyzed(String query) throws Exception {
    return (String) all.call("analyzeTableQueryPlan", docs, query);
  }

  /** The bytes of a query's rows, which begin and end as those of an Arrow file. */
  private String rows(String query) throws Exception {
    String bytes = new String((byte[]) all.call("queryTable", docs, query), "ISO-8859-1");
    holds(bytes.startsWith("ARROW1") && bytes.endsWith("ARROW1"), "not an Arrow file");
    return bytes;
  }

  private void queries() throws Exception {
    check("explain_plan", "a scan, a vector, a text", () -> {
      holds(explained(some(",\"filter\":\"id > 10\"")).startsWith("LanceRead: uri=docs.lance"), "no plan of a scan");
      holds(explained(nearest("")).contains("KNNVectorDistance: metric=l2"), "no plan of a search");
      for (String text : TEXTS) holds(explained(some(text)).contains("query=puppy"), "no plan of a text");
    });
    check("explain_plan", "no SQL, no such column, too much", () -> {
      fails(400, 13, () -> explained(some(",\"filter\":\"id >\"")));
      fails(404, 12, () -> explained(some(",\"filter\":\"nope = 1\"")));
      fails(400, 13, () -> explained(nearest(",\"nprobes\":2000000000")));
    });
    check("analyze_plan", "a scan, also at a version, a vector", () -> {
      holds(analyzed(some(",\"version\":1")).contains("output_rows=4,"), "no measured scan");
      holds(analyzed(nearest("")).startsWith("AnalyzeExec"), "no measured search");
    });
    check("analyze_plan", "no SQL, no such version, a key without the scope", () -> {
      fails(400, 13, () -> analyzed(some(",\"filter\":\"id >\"")));
      fails(404, 11, () -> analyzed(some(",\"version\":99")));
      fails(403, 15, () -> limited.call("analyzeTableQueryPlan", docs, some("")));
    });
    check("query", "columns, expressions, row ids, nothing", () -> {
      String some = rows(some(",\"columns\":{\"column_names\":[\"id\",\"text\"]}"));
      holds(some.contains("text") && !some.contains("title"), "not the columns");
      holds(rows(some(",\"columns\":{\"column_aliases\":{\"next\":\"id + 1\"}}")).contains("next"), "no alias");
      holds(rows(some(",\"with_row_id\":true")).contains("_rowid"), "no row ids");
      rows(some(",\"filter\":\"id < 0\""));
    });
    check("query", "a vector, several vectors, a text", () -> {
      holds(rows(nearest("")).contains("_distance"), "no distance");
      String vector = fact("/docs/vector").toString();
      rows(nearest(",\"vector\":{\"multi_vector\":[" + vector + "," + vector + "]}"));
      for (String text : TEXTS) holds(rows(some(text)).contains("_score"), "no score");
      rows(some(",\"full_text_query\":{\"string_query\":{\"query\":\"puppy\"}}"));
    });
    check("query", "no SQL, no such column or version, a vector of another length", () -> {
      fails(400, 13, () -> rows(some(",\"filter\":\"id >\"")));
      fails(404, 12, () -> rows(some(",\"filter\":\"nope = 1\"")));
      fails(404, 11, () -> rows(some(",\"version\":99")));
      fails(400, 13, () -> rows(nearest(",\"vector\":{\"single_vector\":[1,2]}")));
    });
  }

  private static String tag(String name, int version) {
    return "{\"tag\":\"" + name + "\",\"version\":" + version + "}";
  }

  private long tagged(String name) throws Exception {
    return all.read("getTableTagVersion", docs, "{\"tag\":\"" + name + "\"}").get("version").asLong();
  }

  private void references() throws Exception {
    check("tags/create", "a name for a version", () -> {
      all.call("createTableTag", docs, tag("v1", 1));
      all.call("createTableTag", docs, tag("v2", 2));
      same(tagged("v1"), 1L);
    });
    check("tags/create", "a name that is taken or cannot be, a version or table that is not there", () -> {
      fails(409, 9, () -> all.call("createTableTag", docs, tag("v1", 2)));
      fails(400, 13, () -> all.call("createTableTag", docs, tag("../x", 1)));
      fails(404, 11, () -> all.call("createTableTag", docs, tag("late", 99)));
      fails(404, 4, () -> all.call("createTableTag", missing, tag("v1", 1)));
    });
    check("tags/version", "one that is there, one that is not", () -> {
      same(tagged("v2"), 2L);
      fails(404, 8, () -> tagged("nope"));
    });
    check("tags/list", "names and versions, in pages; a table that is not there", () -> {
      same(names(all.read("listTableTags", docs, null).get("tags")), List.of("v1", "v2"));
      JsonNode first = all.read("listTableTags", docs, null, null, null, 1);
      same(names(first.get("tags")), List.of("v1"));
      JsonNode second = all.read("listTableTags", docs, null, null, first.get("page_token").asText(), 1);
      same(names(second.get("tags")), List.of("v2"));
      fails(404, 4, () -> all.call("listTableTags", missing, null));
    });
    check("tags/update", "another version; a tag or version that is not there", () -> {
      all.call("updateTableTag", docs, tag("v1", 2));
      same(tagged("v1"), 2L);
      fails(404, 8, () -> all.call("updateTableTag", docs, tag("nope", 1)));
      fails(404, 11, () -> all.call("updateTableTag", docs, tag("v1", 99)));
    });
    check("tags/delete", "a tag, and once more", () -> {
      for (String name : List.of("v1", "v2")) all.call("deleteTableTag", docs, "{\"tag\":\"" + name + "\"}");
      fails(404, 8, () -> all.call("deleteTableTag", docs, "{\"tag\":\"v1\"}"));
    });
    check("version/list", "all, the newest first, in pages; a table that is not there", () -> {
      int count = fact("/plain/versions").asInt();
      same(all.read("listTableVersions", plain, null).get("versions").size(), count);
      JsonNode first = all.read("listTableVersions", plain, null, null, null, 4, true);
      same(first.at("/versions/0/version").asInt(), count);
      JsonNode second = all.read("listTableVersions", plain, null, null, first.get("page_token").asText(), 4, true);
      same(second.at("/versions/0/version").asInt(), count - 4);
      fails(404, 4, () -> all.call("listTableVersions", missing, null));
    });
    check("version/describe", "one, and one that is not there", () -> {
      same(all.read("describeTableVersion", plain, "{\"version\":3}").at("/version/version").asInt(), 3);
      fails(404, 11, () -> all.call("describeTableVersion", plain, "{\"version\":99}"));
    });
    check("index/list", "names and columns; none; a table that is not there", () -> {
      JsonNode indexes = all.read("listTableIndices", docs, "{}").get("indexes");
      List<String> found = new ArrayList<>();
      indexes.forEach(index -> found.add(index.get("index_name").asText() + index.get("columns")));
      List<String> expected = new ArrayList<>();
      fact("/docs/indices").forEach(index -> expected.add(index.get("name").asText() + index.get("columns")));
      Collections.sort(found);
      Collections.sort(expected);
      same(found, expected);
      same(all.read("listTableIndices", plain, "{}").get("indexes").size(), 0);
      fails(404, 4, () -> all.call("listTableIndices", missing, "{}"));
    });
    check("index/{index_name}/stats", "of a vector index; one that is not there", () -> {
      JsonNode answer = all.read("describeTableIndexStats", List.of("docs", "vector_idx"), "{}");
      same(answer.get("num_indexed_rows").asLong(), fact("/docs/vectorIndex/numIndexedRows").asLong());
      same(answer.get("index_type").asText(), fact("/docs/vectorIndex/indexType").asText());
      fails(404, 6, () -> all.call("describeTableIndexStats", List.of("docs", "nope"), "{}"));
    });
  }

  private List<String> listed(Caller caller, String operation, String of, Object... query) throws Exception {
    JsonNode answer = caller.read(operation, List.of(of), null, query);
    return texts(answer.get(operation.equals("listTables") ? "tables" : "namespaces"));
  }

  private void namespaces() throws Exception {
    String nested = String.join("$", texts(fact("/nested/namespace")));
    check("namespace/table/list", "of the root, of a namespace, in pages; of one that is not there", () -> {
      same(listed(all, "listTables", "$"), List.of("docs", "plain"));
      same(listed(all, "listTables", nested), List.of(fact("/nested/name").asText()));
      same(listed(all, "listTables", "$", null, null, 1), List.of("docs"));
      same(listed(all, "listTables", "$", null, "docs", 1), List.of("plain"));
      fails(404, 1, () -> listed(all, "listTables", "nope"));
    });
    check("namespace/table/list", "only what the key permits", () ->
        same(listed(limited, "listTables", "$"), List.of("docs")));
    check("namespace/table/list", "of the root beside the delimiter .", () ->
        same(listed(all, "listTables", ".", "."), List.of("docs", "plain")));
    check("/table", "every table by its whole id, in pages", () -> {
      List<String> every = List.of("docs", "plain", id("/awkward"), id("/nested"));
      JsonNode whole = all.read("listAllTables", List.of(), null);
      same(texts(whole.get("tables")), every);
      JsonNode first = all.read("listAllTables", List.of(), null, null, null, 2);
      JsonNode second = all.read("listAllTables", List.of(), null, null, first.get("page_token").asText(), 2);
      same(texts(second.get("tables")), every.subList(2, 4));
    });
    check("namespace/list", "of the root, of a namespace; of one that is not there", () -> {
      same(listed(all, "listNamespaces", "$"), List.of("prod"));
      same(listed(all, "listNamespaces", "prod"), List.of("vectors"));
      same(listed(all, "listNamespaces", ".", "."), List.of("prod"));
      fails(404, 1, () -> listed(all, "listNamespaces", "nope"));
    });
    check("namespace/describe", "one; one that is not there", () -> {
      same(all.read("describeNamespace", List.of("prod"), "{}").path("properties").size(), 0);
      fails(404, 1, () -> all.call("describeNamespace", missing, "{}"));
    });
    check("namespace/exists", "one; one that is not there", () -> {
      all.call("namespaceExists", List.of("prod$vectors"), "{}");
      fails(404, 1, () -> all.call("namespaceExists", missing, "{}"));
    });
  }

  private final List<String> made = List.of("made");

  private byte[] stream(String name) {
    return HexFormat.of().parseHex(fact("/streams/" + name).asText());
  }

  private long count(String predicate) throws Exception {
    return (Long) all.call("countTableRows", made, "{\"predicate\":\"" + predicate + "\"}");
  }

  private void writes() throws Exception {
    check("create", "with rows; a name that is taken, overwrite; bytes that are no rows", () -> {
      same(all.read("createTable", made, stream("first")).get("version").asLong(), 1L);
      same(count("true"), 3L);
      fails(409, 5, () -> all.call("createTable", made, stream("merged")));
      all.call("createTable", made, stream("first"), null, "overwrite");
      fails(400, 13, () -> all.call("createTable", missing, new byte[] {1}));
      fails(404, 1, () -> all.call("createTable", List.of("nope$made"), stream("first")));
    });
    check("namespace/create", "one, the same again, with properties", () -> {
      all.call("createNamespace", List.of("fresh"), "{\"properties\":{\"owner\":\"tests\"}}");
      same(all.read("describeNamespace", List.of("fresh"), "{}").at("/properties/owner").asText(), "tests");
      fails(409, 2, () -> all.call("createNamespace", List.of("fresh"), "{}"));
      all.call("createTable", List.of("fresh$inner"), stream("first"));
    });
    check("namespace/drop", "one with a table, one without, one that is not there", () -> {
      fails(409, 3, () -> all.call("dropNamespace", List.of("fresh"), "{}"));
      all.call("dropTable", List.of("fresh$inner"), null);
      all.call("dropNamespace", List.of("fresh"), "{}");
      fails(404, 1, () -> all.call("dropNamespace", List.of("fresh"), "{}"));
    });
    check("insert", "rows, rows in place of all; bytes that are no rows", () -> {
      all.call("insertIntoTable", made, stream("first"));
      same(count("true"), 6L);
      all.call("insertIntoTable", made, stream("first"), null, "overwrite");
      same(count("true"), 3L);
      fails(400, 13, () -> all.call("insertIntoTable", made, new byte[] {1}));
    });
    check("merge_insert", "a row that is there and one that is not; no such column", () -> {
      JsonNode answer = all.read(
          "mergeInsertIntoTable", List.of("made", "id"), stream("merged"), null, true, null, true);
      same(List.of(answer.get("num_updated_rows").asInt(), answer.get("num_inserted_rows").asInt()), List.of(1, 1));
      same(count("text = 'merged'"), 2L);
      fails(404, 12, () ->
          all.call("mergeInsertIntoTable", List.of("made", "nope"), stream("merged"), null, true, null, true));
    });
    check("update", "some rows by an expression; no SQL, no such column", () -> {
      JsonNode answer =
          all.read("updateTable", made, "{\"predicate\":\"id <= 2\",\"updates\":[[\"text\",\"'changed'\"]]}");
      same(answer.get("updated_rows").asLong(), 2L);
      fails(400, 13, () -> all.call("updateTable", made, "{\"predicate\":\"id >\",\"updates\":[[\"text\",\"'x'\"]]}"));
      fails(404, 12, () -> all.call("updateTable", made, "{\"updates\":[[\"nope\",\"1\"]]}"));
    });
    check("delete", "some rows; no SQL", () -> {
      all.call("deleteFromTable", made, "{\"predicate\":\"id = 4\"}");
      same(count("true"), 3L);
      fails(400, 13, () -> all.call("deleteFromTable", made, "{\"predicate\":\"id >\"}"));
    });
    check("create_index", "of vectors; no such column, a type that is not known", () -> {
      all.call("createTableIndex", made, "{\"column\":\"vector\",\"index_type\":\"IVF_FLAT\",\"num_partitions\":1}");
      fails(404, 12, () -> all.call("createTableIndex", made, "{\"column\":\"nope\",\"index_type\":\"BTREE\"}"));
      fails(406, 0, () -> all.call("createTableIndex", made, "{\"column\":\"id\",\"index_type\":\"MAGIC\"}"));
    });
    check("create_scalar_index", "of numbers", () -> {
      all.call("createTableScalarIndex", made, "{\"column\":\"id\",\"index_type\":\"BTREE\"}");
      same(all.read("listTableIndices", made, "{}").get("indexes").size(), 2);
    });
    check("index/{index_name}/drop", "one; one that is not there", () -> {
      all.call("dropTableIndex", List.of("made", "id_idx"), null);
      same(all.read("listTableIndices", made, "{}").get("indexes").size(), 1);
      fails(404, 6, () -> all.call("dropTableIndex", List.of("made", "id_idx"), null));
    });
    check("add_columns", "by an expression; one that is there", () -> {
      String column = "{\"new_columns\":[{\"name\":\"twice\",\"expression\":\"id * 2\"}]}";
      all.call("alterTableAddColumns", made, column);
      same(count("twice = 4"), 1L);
      fails(400, 20, () -> all.call("alterTableAddColumns", made, column));
    });
    check("backfill_column", "a column that is not computed", () ->
        fails(400, 20, () -> all.call("alterTableBackfillColumns", made, "{\"column\":\"id\"}")));
    check("alter_columns", "another name; no such column", () -> {
      all.call("alterTableAlterColumns", made, "{\"alterations\":[{\"path\":\"twice\",\"rename\":\"double\"}]}");
      same(count("double = 4"), 1L);
      fails(404, 12, () ->
          all.call("alterTableAlterColumns", made, "{\"alterations\":[{\"path\":\"nope\",\"rename\":\"x\"}]}"));
    });
    check("drop_columns", "one; one that is not there", () -> {
      all.call("alterTableDropColumns", made, "{\"columns\":[\"double\"]}");
      fails(404, 12, () -> all.call("alterTableDropColumns", made, "{\"columns\":[\"double\"]}"));
    });
    check("restore", "an old version; one that is not there", () -> {
      all.call("updateTable", made, "{\"updates\":[[\"text\",\"'gone'\"]]}");
      all.call("restoreTable", made, "{\"version\":1}");
      same(count("text = 'gone'"), 0L);
      fails(404, 11, () -> all.call("restoreTable", made, "{\"version\":999}"));
    });
    check("declare", "a table; a name that is taken", () -> {
      List<String> told = List.of("told");
      all.call("declareTable", told, "{}");
      fails(409, 5, () -> all.call("declareTable", told, "{}"));
      all.call("dropTable", told, null);
    });
    check("drop", "a table; once more", () -> {
      all.call("dropTable", made, null);
      same(listed(all, "listTables", "$"), List.of("docs", "plain"));
      fails(404, 4, () -> all.call("dropTable", made, null));
    });
  }

  private void refused(String operation, String method, List<String> path, Object request, Object... query)
      throws Exception {
    check(operation, method, () -> fails(406, 0, () -> all.call(method, path, request, query)));
  }

  private void refusals() throws Exception {
    List<String> fresh = List.of("new");
    refused("register", "registerTable", fresh, "{\"location\":\"new.lance\"}");
    refused("deregister", "deregisterTable", docs, "{}");
    refused("rename", "renameTable", docs, "{\"new_table_name\":\"other\"}");
    refused("schema_metadata/update", "updateTableSchemaMetadata", docs, Map.of("a", "b"));
    refused("version/create", "createTableVersion", docs, "{\"version\":8,\"manifest_path\":\"8.manifest\"}");
    refused(
        "version/delete", "batchDeleteTableVersions", docs, "{\"ranges\":[{\"start_version\":1,\"end_version\":2}]}");
    refused("/table/version/batch-create", "batchCreateTableVersions", List.of(), "{\"entries\":[]}");
    refused("/table/batch-commit", "batchCommitTables", List.of(), "{\"operations\":[]}");
    refused("/transaction/{id}/describe", "describeTransaction", List.of("1"), "{}");
    refused("/transaction/{id}/alter", "alterTransaction", List.of("1"), "{\"actions\":[]}");
    refused("/materialized_view/{id}/create", "createMaterializedView", fresh, "{\"kind\":\"query\"}");
    refused("/materialized_view/{id}/refresh", "refreshMaterializedView", docs, "{}");
  }

  private void methods() throws Exception {
    check("methods", "each was called", () -> {
      TreeSet<String> left = new TreeSet<>(METHODS.keySet());
      left.removeAll(seen);
      same(left, new TreeSet<>());
    });
  }

  public static void main(String[] arguments) throws Exception {
    Client client = new Client(JSON.readTree(new File(arguments[0])));
    print(Map.of("client", NAME, "version", "lance-namespace-apache-client " + version()));
    client.tables();
    client.queries();
    client.references();
    client.namespaces();
    client.writes();
    client.refusals();
    client.methods();
  }

  /** The version in the name of the client's jar file. */
  private static String version() throws Exception {
    String jar = ApiClient.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    return jar.replaceAll(".*-(\\d[^/]*)\\.jar", "$1");
  }
}
