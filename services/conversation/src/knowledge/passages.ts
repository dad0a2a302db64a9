import type { Chunk } from "@parley/proto/parley/knowledge/v1/knowledge.ts";
import { outsideText } from "../model/outside-text.ts";
import type { KnowledgeSource } from "../store/reply-knowledge.ts";
import type { Gathered } from "./knowledge.ts";

/** Whole documents as a part of the system prompt; empty for none. */
export function wholeTexts(texts: Gathered["texts"]): string {
  if (texts.length === 0) return "";
  const documents = texts.map(({ documentName, text }) => `# ${documentName}\n\n${text}`);
  return `Answer from these documents.\n${outsideText(documents.join("\n\n"))}`;
}

/** What was found for the user's message, to stand before it; empty for nothing. */
export function foundBefore(chunks: readonly Chunk[]): string {
  if (chunks.length === 0) return "";
  return `Your documents say this about the user's next message:\n${outsideText(chunks.map(passageOf).join(SEAM))}`;
}

/** The best chunks as a text of at most `bytesMax` bytes. */
export function passagesWithin(chunks: readonly Chunk[], bytesMax: number): { text: string; shown: Chunk[] } {
  const shown: Chunk[] = [];
  let bytes = 0;
  for (const chunk of chunks) {
    bytes += Buffer.byteLength(passageOf(chunk) + SEAM);
    if (bytes > bytesMax) break;
    shown.push(chunk);
  }
  return { text: shown.map(passageOf).join(SEAM), shown };
}

export function sourcesOf({ chunks, texts }: Pick<Gathered, "chunks" | "texts">): KnowledgeSource[] {
  return [
    ...texts.map(({ knowledgeBaseId, documentId, documentName }) => ({
      ...{ knowledgeBaseId, documentId, name: documentName, chunkId: null, score: null },
    })),
    ...chunks.map(({ knowledgeBaseId, documentId, documentName, chunkId, score }) => ({
      ...{ knowledgeBaseId, documentId, name: documentName, chunkId, score },
    })),
  ];
}

const SEAM = "\n\n";

function passageOf({ documentName, heading, text }: Chunk): string {
  return `[${heading === "" ? documentName : `${documentName}: ${heading}`}]\n${text}`;
}
