import { ConfigError } from "@parley/shared/config";
import { isObject } from "@parley/shared/json/json-object";
import type { EmbeddingsConfig } from "./config.ts";

/** Turns texts into vectors whose directions are close for close meanings. */
export interface Embedder {
  /** The model that new vectors are made with. */
  model: string;
  /**
   * The vector of each text, of length 1.
   * @param model that the vectors are to be compared within: after a change of model, the old one
   * @throws EmbedderError; the signal's reason
   */
  embed(model: string, texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>;
}

export class EmbedderError extends Error {
  override readonly name = "EmbedderError";

  /** @param isRefusal whether the server refused these texts, and would again */
  constructor(
    message: string,
    readonly isRefusal = false,
  ) {
    super(message);
  }
}

const DIMENSIONS_MAX = 4_000;
/** Statuses by which a server refuses what it was sent, as opposed to who sent it or when. */
const REFUSALS = [400, 413, 422];

/** An embedder of any server with OpenAI's `/embeddings`; null if none is configured. @throws ConfigError without a model */
export function createEmbedder(config: EmbeddingsConfig): Embedder | null {
  const { PARLEY_EMBEDDINGS_URL: url, PARLEY_EMBEDDINGS_MODEL: model, PARLEY_EMBEDDINGS_API_KEY: key } = config;
  if (url === "") return null;
  if (model === "") throw new ConfigError("PARLEY_EMBEDDINGS_MODEL is missing: PARLEY_EMBEDDINGS_URL needs it");
  return {
    model,
    embed: async (asked, input, signal) => {
      const answer = await post(`${url}/embeddings`, key, { model: asked, input, encoding_format: "float" }, signal);
      return vectorsOf(answer, input.length);
    },
  };
}

async function post(url: string, key: string, body: unknown, signal: AbortSignal): Promise<unknown> {
  const headers = { "Content-Type": "application/json", ...(key && { Authorization: `Bearer ${key}` }) };
  try {
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body), signal });
    if (response.ok) return await response.json();
    await response.body?.cancel();
    throw new EmbedderError(`it answered ${response.status}`, REFUSALS.includes(response.status));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EmbedderError) throw error;
    throw new EmbedderError(error instanceof SyntaxError ? "it answered no JSON" : "it cannot be reached");
  }
}

/** @throws EmbedderError for anything but so many vectors of the same number of dimensions */
function vectorsOf(answer: unknown, count: number): Float32Array[] {
  const data = isObject(answer) && Array.isArray(answer.data) ? answer.data : [];
  const vectors = new Array<Float32Array>(count);
  for (const [at, item] of data.entries()) {
    if (!isObject(item) || !Array.isArray(item.embedding)) continue;
    const vector = unitVector(item.embedding);
    const place = item.index ?? at;
    if (vector && typeof place === "number" && place < count) vectors[place] = vector;
  }
  const dimensions = vectors[0]?.length ?? 0;
  const isWhole = data.length === count && Array.from(vectors).every((vector) => vector?.length === dimensions);
  if (!isWhole || dimensions === 0 || dimensions > DIMENSIONS_MAX) throw new EmbedderError("it answered no vectors");
  return vectors;
}

/** A vector divided by its length; null for what is no vector. */
function unitVector(values: readonly unknown[]): Float32Array | null {
  const vector = Float32Array.from(values, (value) => (typeof value === "number" ? value : Number.NaN));
  const length = Math.hypot(...vector);
  return Number.isFinite(length) && length > 0 ? vector.map((value) => value / length) : null;
}
