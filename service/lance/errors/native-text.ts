/** The prefixes of the known layers in the SDK's error texts. */
const layerName = new RegExp(
  [
    "GenericFailure, ",
    "Invalid input, ",
    "Invalid user input: ",
    "Failed to [a-zA-Z0-9 ]{1,60}: ",
    "LanceError\\(\\w+\\): ",
    "(?:lance|Query Execution|Namespace|Runtime|Internal|External|Wrapped|Cloned|Arrow|Io|Generic [\\w/]+) error: ",
    "(?:Execution|Parser|Compute|Cast|Invalid argument|Schema) [eE]rror: ",
    "Error (?:applying filter expression to batch|parsing function|during planning): ",
    "A prerequisite task failed: ",
    "IO \\{ source: ",
    'Generic \\{ store: "N/A", source: ',
  ].join("|"),
  "y",
);

/**
 * The text of each layer of a native error, the outermost first, each including its inner layers.
 *
 * Text of callers (filters, columns, names in paths and addresses) occurs only in the innermost layer, after text of the
 * SDK. A pattern that matches the beginning of a layer therefore never matches text of a caller.
 */
export const layersOf = (text: string): readonly string[] => {
  const layers = [text];
  layerName.lastIndex = 0;
  while (layerName.test(text)) layers.push(text.slice(layerName.lastIndex));
  return layers;
};

/** The text without addresses and paths, which contain names of tables and of the database. */
export const withoutAddresses = (text: string): string =>
  text.replace(/\b(?:https?|s3|gs):\/\/\S+|\bpath:? "[^"]*"|\bpath \S+|\S*\.(?:lance|manifest|json)\b\S*/g, "");
