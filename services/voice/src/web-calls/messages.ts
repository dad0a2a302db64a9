import type { CallNews } from "../call/port.ts";

/** A live caption as JSON, as docs/calls.md#captions describes it. */
export function captionOf(news: CallNews): string {
  if (news.type === "state") return JSON.stringify(news);
  const { type, text, isFinal } = news;
  return JSON.stringify({ type, text, is_final: isFinal });
}
