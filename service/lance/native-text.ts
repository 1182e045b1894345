/** The SDK's errors are sentences of several layers, each with a name before it: these are the names that we know. */
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
 * What each layer of a native error says, the outermost first and each with all that is beneath it.
 *
 * Callers' text (filters, columns, names in paths and addresses) stands only in the innermost sentence, behind words of
 * the SDK: whoever matches the beginnings of these never takes it for the SDK's own.
 */
export const layersOf = (text: string): readonly string[] => {
  const layers = [text];
  layerName.lastIndex = 0;
  while (layerName.test(text)) layers.push(text.slice(layerName.lastIndex));
  return layers;
};

/** The text without addresses and paths, in which names of tables and of the database stand. */
export const withoutAddresses = (text: string): string =>
  text.replace(/\b(?:https?|s3|gs):\/\/\S+|\bpath:? "[^"]*"|\bpath \S+|\S*\.(?:lance|manifest|json)\b\S*/g, "");
