/**
 * Google's discovery documents, as its client library for Python ships them: which method a request calls, and what of a
 * request or a response they do not know.
 */

import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { MissingPart } from "../../../tools/parts/control-plane/go.ts";
import { pythonWith } from "../../../tools/parts/python.ts";
import { record } from "../providers/cloud.ts";

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  /** Methods that need the field. */
  readonly annotations?: { readonly required?: readonly string[] };
}

interface Parameter extends Schema {
  readonly location: "path" | "query";
  readonly required?: boolean;
  readonly repeated?: boolean;
}

interface Method {
  readonly id: string;
  readonly httpMethod: string;
  readonly path: string;
  readonly flatPath?: string;
  readonly parameters?: Readonly<Record<string, Parameter>>;
  readonly request?: Schema;
  readonly response?: Schema;
}

interface Resources {
  readonly methods?: Readonly<Record<string, Method>>;
  readonly resources?: Readonly<Record<string, Resources>>;
}

interface Document extends Resources {
  readonly rootUrl: string;
  readonly servicePath: string;
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly schemas: Readonly<Record<string, Schema>>;
}

interface Route {
  readonly method: Method;
  readonly pattern: RegExp;
}

interface Api {
  readonly document: Document;
  readonly routes: readonly Route[];
}

export interface Call {
  readonly api: string;
  readonly version: string;
  /** The method without the API and its version's parents: `subnetworks.insert`. */
  readonly kind: string;
  readonly verb: string;
  /** Path without version and custom verb: what the call is about. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly method: Method;
}

/** No document has them. The released provider sends them with every network and every NAT, so Google is assumed to accept them. */
const undocumented = /^(?:routingConfig\.deleteBgpAlwaysCompareMed|nats\[\d+\]\.initialNatIps)$/;

/** Google takes a field by its name in JSON and by that in its protocol buffers. */
export const camelCased = (name: string): string =>
  name.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());

const escaped = (text: string): string => text.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&");

/** A placeholder is one segment, a reserved one (`{+name}`) any number. */
const patternOf = (path: string): RegExp =>
  new RegExp(
    `^/${escaped(path)
      .replaceAll(/\{\\\+\w+\}/g, "(.+)")
      .replaceAll(/\{\w+\}/g, "([^/:]+)")}$`,
  );

function routesOf({ methods = {}, resources = {} }: Resources, servicePath: string): Route[] {
  return [
    ...Object.values(methods).map((method) => ({
      method,
      pattern: patternOf(`${servicePath}${method.flatPath ?? method.path}`),
    })),
    ...Object.values(resources).flatMap((inner) => routesOf(inner, servicePath)),
  ];
}

/** @throws MissingPart without Python or Google's client library */
export async function openDiscovery(log: (line: string) => void): Promise<Discovery> {
  const requirements = fileURLToPath(new URL("../../cloud-schemas/requirements.txt", import.meta.url));
  const { python, missing } = await pythonWith(requirements, log);
  if (python === undefined) throw new MissingPart(`Google's discovery documents: ${missing}`);
  const program = "from googleapiclient import discovery_cache; print(discovery_cache.__path__[0])";
  const { stdout } = await promisify(execFile)(python, ["-c", program]);
  return new Discovery(join(stdout.trim(), "documents"));
}

export class Discovery {
  readonly #folder: string;
  readonly #files: readonly string[];
  readonly #apis = new Map<string, Api>();

  constructor(folder: string) {
    this.#folder = folder;
    this.#files = readdirSync(folder);
  }

  /** The method that an address calls; undefined where the documents have none. */
  find(httpMethod: string, url: URL, body: Readonly<Record<string, unknown>>): Call | undefined {
    const api = url.hostname.replace(/\.googleapis\.com$/, "");
    const version = url.pathname.split("/").find((part) => this.#files.includes(`${api}.${part}.json`));
    if (version === undefined) return undefined;
    const found = this.#api(api, version).routes.find(
      ({ method, pattern }) => method.httpMethod === httpMethod && pattern.test(url.pathname),
    );
    if (found === undefined) return undefined;
    const { method } = found;
    const [verb = "", resource = ""] = method.id.split(".").reverse();
    const [, custom = ""] = /[:/](\w+)$/.exec(method.flatPath ?? method.path) ?? [];
    const suffix = custom === verb || custom === "iam" ? custom.length + 1 : 0;
    const path = url.pathname.slice(url.pathname.indexOf(`/${version}/`) + version.length + 2);
    return {
      api,
      version,
      kind: `${api}.${resource}`,
      verb,
      path: path.slice(0, path.length - suffix).replaceAll("%40", "@"),
      query: Object.fromEntries([...url.searchParams].map(([name, value]) => [camelCased(name), value])),
      body,
      method,
    };
  }

  /** What the document of a call does not allow in its parameters and its body. */
  problems(call: Call): string[] {
    const { document } = this.#api(call.api, call.version);
    const known: Readonly<Record<string, Parameter>> = { ...document.parameters, ...call.method.parameters };
    const found: string[] = [];
    for (const [name, { location, required }] of Object.entries(known))
      if (location === "query" && required === true && call.query[name] === undefined)
        found.push(`Required parameter: ${name}`);
    for (const [name, text] of Object.entries(call.query)) {
      const parameter = known[name];
      if (parameter === undefined) found.push(`Invalid JSON payload received. Unknown name "${name}"`);
      else if (parameter.enum !== undefined && !parameter.enum.includes(text))
        found.push(`Invalid value at '${name}': "${text}"`);
    }
    const { request } = call.method;
    const sent = Object.keys(call.body).length > 0;
    if (request !== undefined) this.#judge(document, request, call.body, "", call.method.id, found);
    else if (sent) found.push(`${call.method.id} takes no body`);
    return found;
  }

  /** What the document does not allow in an answer to a call. */
  faults(call: Call, answer: unknown): string[] {
    const found: string[] = [];
    const { document } = this.#api(call.api, call.version);
    if (call.method.response !== undefined) this.#judge(document, call.method.response, answer, "", "", found);
    return found;
  }

  /** The name of the schema of a method's answer, and of those of its fields that hold lists or objects. */
  answerOf({ api, version, method }: Call): { readonly schema: string; readonly lists: readonly string[] } {
    const schema = method.response?.$ref ?? "";
    const { properties = {} } = this.#api(api, version).document.schemas[schema] ?? {};
    return { schema, lists: Object.keys(properties).filter((name) => properties[name]?.type === "array") };
  }

  /** The field of a request that holds the resource itself, such as `cluster` of `CreateClusterRequest`. */
  wrapperOf({ api, version, method, kind }: Call): string | undefined {
    const singular = kind.replace(/^.*\./, "").replace(/ies$/, "y").replace(/s$/, "");
    const request = this.#api(api, version).document.schemas[method.request?.$ref ?? ""];
    return request?.properties?.[singular]?.$ref?.toLowerCase() === singular.toLowerCase() ? singular : undefined;
  }

  #api(name: string, version: string): Api {
    const key = `${name}.${version}`;
    const held = this.#apis.get(key);
    if (held !== undefined) return held;
    const document = JSON.parse(readFileSync(join(this.#folder, `${key}.json`), "utf8")) as Document;
    const api = { document, routes: routesOf(document, document.servicePath) };
    this.#apis.set(key, api);
    return api;
  }

  /** Compares a value with its schema. @param method - Its required fields must be there; empty: none. */
  #judge(doc: Document, schema: Schema, value: unknown, path: string, method: string, found: string[]): void {
    if (value === undefined || value === null) return;
    if (schema.$ref !== undefined) {
      this.#judge(doc, doc.schemas[schema.$ref] ?? {}, value, path, method, found);
      return;
    }
    if (!fits(schema, value, method === "")) {
      found.push(`Invalid value at '${path}' (${schema.format ?? schema.type ?? ""}): ${JSON.stringify(value)}`);
      return;
    }
    if (schema.enum !== undefined && !schema.enum.includes(String(value)))
      found.push(`Invalid value at '${path}': "${String(value)}" is none of its enum`);
    // Only names are tested: the documents' patterns of other fields are those of one of several forms.
    if (schema.pattern !== undefined && path === "name" && !new RegExp(`^(?:${schema.pattern})$`).test(String(value)))
      found.push(`Invalid value for field '${path}': "${String(value)}". Must be a match of regex '${schema.pattern}'`);
    if (Array.isArray(value))
      for (const [at, item] of value.entries())
        this.#judge(doc, schema.items ?? {}, item, `${path}[${at}]`, method, found);
    else if (schema.type === "object") this.#judgeFields(doc, schema, record(value), path, method, found);
  }

  #judgeFields(
    doc: Document,
    { properties = {}, additionalProperties }: Schema,
    value: Readonly<Record<string, unknown>>,
    path: string,
    method: string,
    found: string[],
  ): void {
    const at = (name: string) => (path === "" ? name : `${path}.${name}`);
    for (const [name, inner] of Object.entries(value)) {
      const schema = properties[name] ?? additionalProperties;
      if (schema === undefined && !undocumented.test(at(name)))
        found.push(`Invalid JSON payload received. Unknown name "${name}" at '${path}': Cannot find field.`);
      else this.#judge(doc, schema ?? {}, inner, at(name), method, found);
    }
    // An absent list is an empty one.
    for (const [name, { type, annotations }] of Object.entries(properties))
      if (type !== "array" && annotations?.required?.includes(method) === true && (value[name] ?? "") === "")
        found.push(`Required field '${at(name)}' not specified`);
  }
}

/**
 * Whether a value has the type of its schema. JSON carries numbers of 64 bits as text; Google takes others so too, and does
 * not answer so.
 */
function fits({ type, format = "" }: Schema, value: unknown, isAnswer: boolean): boolean {
  const isNumber = typeof value === "number" || (typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value));
  if (type === "array") return Array.isArray(value);
  if (type === "object") return typeof value === "object" && !Array.isArray(value);
  if (type === "boolean") return typeof value === "boolean";
  if (type === "integer" || type === "number") return isAnswer ? typeof value === "number" : isNumber;
  if (type === "string") return /^u?int64$/.test(format) ? isNumber : typeof value === "string";
  return true;
}
