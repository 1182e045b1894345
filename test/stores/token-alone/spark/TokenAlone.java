import java.util.List;
import java.util.Random;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.types.DataTypes;

/**
 * A local Spark with the address of the service and a token, and nothing else. Prints one line for each operation that was done;
 * an exception ends the program. One write takes the seconds of the command line.
 */
final class TokenAlone {
  private static final int ALL = 36;

  public static void main(String[] args) {
    String endpoint = args[0], token = args[1];
    long seconds = Long.parseLong(args[2]);
    try (SparkSession spark =
        SparkSession.builder()
            .master("local[1]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "1")
            .config("spark.sql.extensions", "org.lance.spark.extensions.LanceSparkSessionExtensions")
            .config("spark.sql.catalog.lake", "org.lance.spark.LanceNamespaceSparkCatalog")
            .config("spark.sql.catalog.lake.impl", "rest")
            .config("spark.sql.catalog.lake.uri", endpoint)
            .config("spark.sql.catalog.lake.headers.authorization", "Bearer " + token)
            .getOrCreate()) {
      spark.sparkContext().setLogLevel("OFF");
      spark
          .udf()
          .register(
              "slowly",
              (UDF1<Long, byte[]>)
                  id -> {
                    Thread.sleep(seconds * 1000 / ALL);
                    byte[] bytes = new byte[1 << 20];
                    new Random(id).nextBytes(bytes);
                    return bytes;
                  },
              DataTypes.BinaryType);
      String table = "lake.team.by_spark";
      spark.sql("CREATE TABLE " + table + " (id BIGINT, bytes BINARY)");
      done("create");
      spark.sql("INSERT INTO " + table + " SELECT id, X'00' FROM range(3)");
      spark.sql("INSERT INTO " + table + " SELECT id, slowly(id) FROM range(0, " + ALL + ", 1, 1)");
      done("append");
      same(spark, "SELECT count(*) FROM " + table + " WHERE id = 1", 2);
      done("read");
      spark.sql("DELETE FROM " + table + " WHERE id >= 10");
      spark.sql("UPDATE " + table + " SET id = 4 WHERE id = 3");
      same(spark, "SELECT sum(id) FROM " + table, 49);
      done("delete, update");
      spark.sql("OPTIMIZE " + table);
      same(spark, "SELECT count(*) FROM " + table, 13);
      done("compact");
      spark.sql("INSERT OVERWRITE " + table + " SELECT id, X'00' FROM range(5)");
      same(spark, "SELECT count(*) FROM " + table, 5);
      done("overwrite");
      spark.sql("DROP TABLE " + table);
      done("drop");
    }
  }

  private static void same(SparkSession spark, String query, long expected) {
    List<Row> rows = spark.sql(query).collectAsList();
    if (rows.get(0).getLong(0) != expected) throw new AssertionError(query + ": " + rows);
  }

  private static void done(String operation) {
    System.out.println("done: " + operation);
  }
}
