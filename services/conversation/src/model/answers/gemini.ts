import type { JsonObject } from "@parley/shared/json/json-object";
import { fieldsOf, type Heard, objectsIn, type Protocol, sumOfCounts, WORDS_MAX } from "./protocol.ts";

/** Google's Gemini (https://ai.google.dev/api/generate-content). A stream consists of responses that are read like a whole one. */
export const gemini: Protocol = { eventCharactersMax: WORDS_MAX, endsOnce: false, listen };

function listen(heard: Heard): ReturnType<Protocol["listen"]> {
  let calls = 0;

  /** Thoughts, code, its results and images are no part of the reply. */
  function readPart({ text, thought, functionCall }: JsonObject): void {
    if (thought !== true) heard.text(text);
    if (!functionCall) return;
    const { name, args } = fieldsOf(functionCall);
    heard.tools.begin(++calls, name);
    heard.tools.set(calls, args);
  }

  return ({ error, candidates, promptFeedback, usageMetadata }) => {
    if (error) return heard.fail(error);
    readUsage(usageMetadata, heard);
    const [candidate = {}] = objectsIn(candidates);
    for (const part of objectsIn(fieldsOf(candidate.content).parts)) readPart(part);
    heard.end(reasonIn(candidate.finishReason));
    heard.end(reasonIn(fieldsOf(promptFeedback).blockReason));
  };
}

/** The protocol's name for no reason. */
function reasonIn(given: unknown): unknown {
  return typeof given === "string" && given.endsWith("_UNSPECIFIED") ? undefined : given;
}

/** Counts of zero are left out. */
function readUsage(given: unknown, heard: Heard): void {
  if (!given) return;
  const usage = fieldsOf(given);
  heard.usage({
    inputTokens: sumOfCounts(usage.promptTokenCount, usage.toolUsePromptTokenCount),
    outputTokens: sumOfCounts(usage.candidatesTokenCount, usage.thoughtsTokenCount),
    cachedInputTokens: usage.cachedContentTokenCount,
  });
}
