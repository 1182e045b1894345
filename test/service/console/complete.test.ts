import { describe, expect, test } from "vitest";
import {
  comparedColumn,
  completionsOf,
  didYouMean,
  placeholderOf,
} from "../../../service/console/page/query/complete.ts";

const field = (name: string, type: string) => ({ name, nullable: true, type: { type } });
const columns = [field("place", "utf8"), field("magnitude", "float64"), field("Depth km", "float64")];

describe("placeholders name the table's own columns", () => {
  test.each([
    ["filter", "magnitude > 10"],
    ["columns", 'place, magnitude   or   {"twice": "magnitude"}'],
    ["order_by", "magnitude desc nulls first"],
  ])("in %s", (key, text) => {
    expect(placeholderOf(key, columns)).toBe(text);
  });

  test("and are the general ones for a table of vectors alone", () => {
    expect(placeholderOf("filter", [field("vector", "fixed_size_list")])).toBeUndefined();
  });
});

describe("completions", () => {
  test.each([
    ["filter", "mag", [], ["magnitude"]],
    ["filter", "place = 'x' and De", [], []],
    ["filter", "place = 'x' and `De", [], ["place = 'x' and `Depth km`"]],
    ["filter", "place = 'pla", ["'plaza'", "'x'"], ["place = 'plaza'"]],
    ["filter", "place = ", ["'a'", "'b'"], ["place = 'a'", "place = 'b'"]],
    ["filter", "place like 'x' or place != 'it is ma", [], []],
    ["columns", "place, ma", [], ["place, magnitude"]],
  ])("of %s %j", (key, text, values, completed) => {
    expect(completionsOf(key, text, columns, values)).toEqual(completed);
  });

  test.each([
    ["place = '", "place"],
    ["magnitude > 4 and `Depth km` <= ", "Depth km"],
    ["magnitude > 4", undefined],
    ["nothing = ", undefined],
  ])("%j compares %s", (text, name) => {
    expect(comparedColumn(text, columns)?.name).toBe(name);
  });
});

describe("a name that is no column but close to one", () => {
  test.each([
    ["filter", "magnitud > 4", "magnitud is no column: did you mean magnitude?"],
    ["filter", "Magnitude > 4", "Magnitude is no column: did you mean magnitude?"],
    ["columns", "plce", "plce is no column: did you mean place?"],
    ["order_by", "palce desc", "palce is no column: did you mean place?"],
  ])("in %s %j is told", (key, text, hint) => {
    expect(didYouMean(key, text, columns)).toBe(hint);
  });

  test.each([
    ["filter", "place = 'magnitud'"],
    ["filter", "magnitude > 4 AND place IS NOT NULL"],
    ["filter", "lower(place) = 'x'"],
    ["columns", '{"plce": "magnitude"}'],
    ["columns", "_rowid"],
  ])("in %s %j is not there", (key, text) => {
    expect(didYouMean(key, text, columns)).toBeUndefined();
  });
});
