/** The examples of one operation: complete bodies, which the server accepts and returns. */
export interface Example {
  /** A text for a body that is not JSON. */
  request?: object | string;
  /** Several requests instead of one, by name, each for its own purpose. */
  requests?: Readonly<Record<string, { summary: string; value: object }>>;
  /** The fields of a form that may be sent in place of the request, its file as a text. */
  form?: object;
  /** None for a file. */
  response?: object;
  /** The response in the other media type, if there is one. */
  text?: string;
  /** The response as server-sent events, if there is one. */
  events?: string;
}

/** The examples of a request's body in OpenAPI's form. */
export function mediaExample({ request, requests }: Example): object {
  return requests ? { examples: requests } : { example: request };
}

/** By operation ID. */
export type OperationExamples = Readonly<Record<string, Example>>;
