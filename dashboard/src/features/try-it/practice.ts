interface Tried {
  llm?: { provider_name: string; model_name: string } | null | undefined;
  stt?: object | null | undefined;
  sts?: object | null | undefined;
}

/** What to expect of the stand-ins that an agent uses, with which `bun run start` begins; empty if it uses none. */
export function practiceOf({ llm, stt, sts }: Tried, kind: "chat" | "talk"): string[] {
  const isSts = kind === "talk" && Boolean(sts);
  if (isSts || llm?.provider_name !== "CUSTOM_LLM" || llm.model_name !== "stand-in") return [];
  const model = "Practice model: its replies are canned. It calls a tool when you say all words of its name.";
  if (kind === "chat" || stt) return [model];
  return [model, "Practice speech recognition: it misunderstands many words, and most of them on the telephone."];
}
