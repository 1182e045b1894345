import { readFile } from "node:fs/promises";
import type { TableDefinition } from "../../tools/lance-tables.ts";

/**
 * Tables of the quick start, from public-domain data (`data/README.md`): earthquakes (vector index, full-text index),
 * weather (one version for each year) and penguins (in a nested namespace). Beside them readings: generated, and with faults that the plan
 * doctor finds.
 */
type Fields = Readonly<Record<string, string>>;

const readRows = async (file: string): Promise<readonly Fields[]> => {
  const text = await readFile(new URL(`data/${file}`, import.meta.url), "utf8");
  const [header = [], ...rows] = text
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t"));
  return rows.map((row) => Object.fromEntries(header.map((name, index) => [name, row[index] ?? ""])));
};

const text = (value = ""): string | null => (value === "" ? null : value);

const number = (value = ""): number | null => (value === "" ? null : Number(value));

/** One vector for each row: each feature scaled to 0…1 over all rows, 0.5 where the value is unknown. */
const scaledVectors = (rows: readonly Fields[], features: readonly string[]): number[][] => {
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

const earthquakeFeatures = [
  "latitude",
  "longitude",
  "depth_km",
  "magnitude",
  "stations",
  "gap_degrees",
  "distance_degrees",
  "residual_seconds",
];

const earthquakes = async (): Promise<TableDefinition> => {
  const source = await readRows("earthquakes.tsv");
  const vectors = scaledVectors(source, earthquakeFeatures);
  const rows = source.map((row, index) => ({
    id: BigInt(index),
    place: text(row.place),
    kind: text(row.type),
    magnitude: number(row.magnitude),
    depth: number(row.depth_km),
    occurred: new Date(row.time ?? ""),
    vector: vectors[index] ?? [],
  }));
  return {
    namespace: [],
    name: "earthquakes",
    columns: {
      id: "integer",
      place: "text",
      kind: "text",
      magnitude: "number",
      depth: "number",
      occurred: "date",
      vector: { vector: earthquakeFeatures.length },
    },
    batches: [rows.slice(0, 1500), rows.slice(1500)],
    indices: [
      { column: "vector", kind: "ivf_pq" },
      { column: "place", kind: "full_text" },
      { column: "id", kind: "btree" },
    ],
  };
};

const weatherFeatures = ["precipitation_mm", "temperature_max_c", "temperature_min_c", "wind_m_s"];

const weather = async (): Promise<TableDefinition> => {
  const source = await readRows("weather.tsv");
  const vectors = scaledVectors(source, weatherFeatures);
  const rows = source.map((row, index) => ({
    id: BigInt(index),
    day: new Date(row.date ?? ""),
    conditions: text(row.weather),
    precipitation: number(row.precipitation_mm),
    temperature: number(row.temperature_max_c),
    vector: vectors[index] ?? [],
  }));
  return {
    namespace: [],
    name: "weather",
    columns: {
      id: "integer",
      day: "date",
      conditions: "text",
      precipitation: "number",
      temperature: "number",
      vector: { vector: weatherFeatures.length },
    },
    batches: [2012, 2013, 2014, 2015].map((year) => rows.filter(({ day }) => day.getUTCFullYear() === year)),
    indices: [{ column: "conditions", kind: "bitmap" }],
  };
};

const penguinFeatures = ["beak_length_mm", "beak_depth_mm", "flipper_length_mm", "body_mass_g"];

const penguins = async (): Promise<TableDefinition> => {
  const source = await readRows("penguins.tsv");
  const vectors = scaledVectors(source, penguinFeatures);
  const rows = source.map((row, index) => ({
    species: text(row.species),
    island: text(row.island),
    sex: text(row.sex),
    mass: number(row.body_mass_g),
    vector: vectors[index] ?? [],
  }));
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

/** The same numbers at each start, from 0 to 1. */
const randomNumbers = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

const readingDimensions = 32;
const readingBatch = 1000;

/**
 * Readings of sensors that do not exist: many small fragments, rows that the vector index does not cover, and no scalar
 * index. Large enough that each of these costs time.
 */
const readings = (): TableDefinition => {
  const random = randomNumbers(2018);
  const row = (id: number) => ({
    id: BigInt(id),
    device: `device-${Math.floor(random() * 200)}`,
    room: `room-${Math.floor(random() * 12)}`,
    temperature: Math.round(random() * 400) / 10,
    vector: Array.from({ length: readingDimensions }, random),
  });
  const batches = Array.from({ length: 24 }, (_, batch) =>
    Array.from({ length: readingBatch }, (_, at) => row(batch * readingBatch + at)),
  );
  return {
    namespace: [],
    name: "readings",
    columns: {
      id: "integer",
      device: "text",
      room: "text",
      temperature: "number",
      vector: { vector: readingDimensions },
    },
    batches: batches.slice(0, 20),
    indices: [{ column: "vector", kind: "ivf_pq" }],
    lateBatches: batches.slice(20),
  };
};

export const quickstartTables = async (): Promise<TableDefinition[]> => [
  ...(await Promise.all([earthquakes(), weather(), penguins()])),
  readings(),
];
