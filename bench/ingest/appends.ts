import { join } from "node:path";
import { connect } from "@lancedb/lancedb";
import { isConflict } from "../../service/lance/maintenance/maintained-tables.ts";
import { closedLoop } from "../measure.ts";
import { figureTable, say } from "../report.ts";
import { startServer } from "../servers.ts";
import { encode, makeRows, openBare, write } from "./rows.ts";

export interface AppendOptions {
  readonly callers: number;
  readonly seconds: number;
}

/** Single-row appends of many callers against one commit each. */
export const appendTable = async (home: string, { callers, seconds }: AppendOptions): Promise<string> => {
  const row = encode(makeRows(128, 1));
  const connection = await connect(join(home, "appends"));
  const server = await startServer("../service/main.ts", {
    LAKEHEAD_DATABASE: join(home, "appends"),
    LAKEHEAD_WRITES: "on",
    LAKEHEAD_MAX_IN_FLIGHT_PER_PRINCIPAL: "1000",
    LAKEHEAD_LOG_LEVEL: "error",
  });
  const measure = async (title: string, table: string, call: () => Promise<unknown>) => {
    const round = await closedLoop({ concurrency: callers, seconds }, call);
    const perSecond = round.requests / round.seconds;
    const opened = await connection.openTable(table);
    const [versions, count] = [(await opened.version()) - 1, await opened.countRows()];
    opened.close();
    say(`${title}: ${perSecond.toFixed(0)} appends/s`);
    return { title, perSecond, share: versions / (count - 1) };
  };
  try {
    await write(server, "grouped", "create", row);
    await write(server, "each", "create", row);
    const grouped = await measure("service", "grouped", () => write(server, "grouped", "insert", row));
    const bare = await openBare(connection, "each");
    /** The SDK gives up after a number of conflicts with the others. */
    const appendOnce = async (): Promise<void> => {
      for (let isDone = false; !isDone; )
        isDone = await bare.add(row).then(
          () => true,
          (error: unknown) => {
            if (isConflict(error)) return false;
            throw error;
          },
        );
    };
    const each = await measure("SDK, one commit each", "each", appendOnce);
    bare.close();
    return figureTable(
      [`single-row appends, ${callers} callers`, "appends/s", "versions per append", "times the SDK"],
      [grouped, each].map(({ title, perSecond, share }) => [
        title,
        perSecond.toFixed(0),
        share.toFixed(3),
        (perSecond / each.perSecond).toFixed(1),
      ]),
    );
  } finally {
    await server.stop();
    connection.close();
  }
};
