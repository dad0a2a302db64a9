/** What a document says. */
export interface Reading {
  /** In Markdown, with headings and tables. */
  text: string;
  /** What a web page is called. */
  title: string | null;
}

/** Why a document cannot be read, as a sentence for its owner. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}
