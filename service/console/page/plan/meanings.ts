/** What the nodes of LanceDB's plans do, by their names. */
const meanings: Readonly<Record<string, string>> = {
  AggregateExec: "Computes counts, sums or groups of its input.",
  ANNIvfPartition: "Chooses the partitions of the vector index that are nearest to the query: nprobes of them.",
  ANNSubIndex: "Searches the chosen partitions of the vector index, by compressed vectors where the index has them.",
  BoostQuery: "Lowers the scores of rows that match the negative part of a full-text query.",
  BooleanQuery: "Combines full-text clauses: must, should and must not.",
  CoalesceBatchesExec: "Joins small batches of rows into larger ones.",
  CoalescePartitionsExec: "Brings the rows of parallel parts together.",
  CooperativeExec: "Lets other queries run between its batches.",
  EmptyExec: "Returns no row: the filter can never be true.",
  FilterExec: "Keeps the rows for which the condition is true.",
  FlatMatchQuery: "Searches the text of rows that no full-text index covers, one by one.",
  GlobalLimitExec: "Stops after the rows that were asked for.",
  HashJoinExec: "Joins two inputs by equal values.",
  KNNVectorDistance: "Computes the distance of every row of its input to the query vector.",
  LanceRead: "Reads columns from the table's files, with the part of the filter that it can apply while it reads.",
  LanceScan: "Reads columns from the table's files.",
  LocalLimitExec: "Stops each parallel part after the rows that were asked for.",
  MatchQuery: "Looks words up in the full-text index.",
  MaterializeIndex: "Turns the row ids that a scalar index found into rows.",
  MultiMatchQuery: "Looks words up in the full-text indices of several columns.",
  PhraseQuery: "Looks a phrase up in the full-text index, which needs positions.",
  ProjectionExec: "Chooses, computes and names columns.",
  RepartitionExec: "Spreads rows over parallel parts.",
  ScalarIndexQuery: "Asks scalar indices which rows match the filter.",
  SortExec: "Sorts rows; with a fetch, it keeps the best ones only.",
  SortPreservingMergeExec: "Merges sorted parallel parts.",
  Take: "Fetches more columns of the rows that were found, by their row ids.",
  UnionExec: "Puts the rows of several inputs together, such as indexed and unindexed ones.",
};

/** @param name as a plan prints it. @returns undefined for a node that this version does not know. */
export const meaningOf = (name: string): string | undefined =>
  Object.hasOwn(meanings, name) ? meanings[name] : undefined;
