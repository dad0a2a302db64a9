/** What one operation is shown with: whole bodies, which the server accepts and answers. */
export interface Example {
  request?: object;
  /** In place of one request: several, by name, each for its own purpose. */
  requests?: Readonly<Record<string, { summary: string; value: object }>>;
  response: object;
  /** The answer of the other media type, where there is one. */
  text?: string;
}

/** By the operation's ID. */
export type OperationExamples = Readonly<Record<string, Example>>;
