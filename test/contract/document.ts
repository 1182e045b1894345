import { type Resolve, type Schema, type Shapes, shapesOf } from "./shapes.ts";

/** An operation in the normal form in which both sides are compared. */
export interface Described {
  readonly method: string;
  /** The path without parameter names, to find the operation on the other side. */
  readonly address: string;
  /** Its name in differences: the path without the common prefix. */
  readonly label: string;
  readonly path: string;
  readonly parameters: Shapes;
  readonly request: Shapes;
  readonly requestTypes: readonly string[];
  readonly answer: Shapes;
  /** Media types of all responses, errors included: those that a client accepts. */
  readonly answerTypes: readonly string[];
  readonly error: Shapes;
  /** Statuses: numbers, or a class such as `5XX`. */
  readonly statuses: readonly string[];
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

/** The part of an OpenAPI document that is read here. */
export interface OpenApi {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId: string;
            readonly parameters?: readonly {
              readonly name: string;
              readonly in: string;
              readonly required?: boolean;
              readonly schema: Schema;
            }[];
            readonly requestBody?: Content & { readonly required?: boolean };
            readonly responses: Readonly<Record<string, Content>>;
          }
        >
      >
    >
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export const addressOf = (path: string): string => path.replaceAll(/\{\w+\}/g, "{}");

export const labelOf = (path: string): string => path.replace(/^\/v1\/(table\/\{id\}\/)?/, "");

const none: Shapes = new Map();

const contentShapes = ({ content = {} }: Content, resolve: Resolve): Shapes => {
  const [first] = Object.values(content);
  return first === undefined ? none : shapesOf(first.schema, resolve);
};

/** The operations of a served document. */
export const operationsOf = (document: OpenApi): readonly Described[] => {
  const resolve: Resolve = (reference) => {
    const found = document.components.schemas[reference.replace("#/components/schemas/", "")];
    if (found === undefined) throw new Error(`the document has no ${reference}`);
    return found;
  };
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody = {}, responses }]): Described => {
      const {
        202: accepted = {},
        200: answer = accepted,
        400: error = {},
      } = responses as Readonly<Record<number, Content>>;
      const query = parameters.filter((parameter) => parameter.in === "query");
      return {
        method: method.toUpperCase(),
        path,
        address: addressOf(path),
        label: labelOf(path),
        parameters: new Map(
          query.flatMap(({ name, required = false, schema }) =>
            [...shapesOf(schema, resolve, required)].map(([place, shape]) => [`${name}${place}`, shape]),
          ),
        ),
        request: contentShapes(requestBody, resolve),
        requestTypes: Object.keys(requestBody.content ?? {}),
        answer: contentShapes(answer, resolve),
        answerTypes: [...new Set(Object.values(responses).flatMap(({ content = {} }) => Object.keys(content)))],
        error: contentShapes(error, resolve),
        statuses: Object.keys(responses),
      };
    }),
  );
};
