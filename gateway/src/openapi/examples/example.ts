/** The examples of one operation: complete bodies, which the server accepts and returns. */
export interface Example {
  request?: object;
  /** Several requests instead of one, by name, each for its own purpose. */
  requests?: Readonly<Record<string, { summary: string; value: object }>>;
  /** None for a file. */
  response?: object;
  /** The response in the other media type, if there is one. */
  text?: string;
}

/** By operation ID. */
export type OperationExamples = Readonly<Record<string, Example>>;
