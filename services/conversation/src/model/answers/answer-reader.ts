import { isObject } from "@parley/shared/json/json-object";
import { createParser } from "eventsource-parser";
import { emptyAnswer, endlessStream, reportedError } from "../failure.ts";
import type { ModelEnd, ModelName } from "../port.ts";
import { collect } from "./collected.ts";
import { withoutLeadingThoughts } from "./leading-thoughts.ts";
import { type JsonReader, jsonReader } from "./long-json.ts";
import type { Protocol } from "./protocol.ts";

/** An event this short is parsed quickly, whatever is in it. */
const SHORT_EVENT = 128 * 1024;
/** What of a longer event is parsed at a time. */
const PARSED_AT_ONCE = 16 * 1024;
const DONE = /^"?\[done\]"?$/i;

/** Reads one answer, a stream of events or one JSON document, whichever the server sends. */
interface AnswerReader {
  /** Returns the words of the reply in the next characters of the body. */
  read(received: string): string;
  /** What made the answer unreadable, an error that the provider reported included; undefined so far. */
  readonly failure: unknown;
  readonly isDocument: boolean;
  /** Whether the provider has said why the answer ends. */
  readonly hasEnded: boolean;
  /** Whether only counts can follow, and the end mark. */
  readonly isEnding: boolean;
  /** Whether nothing more of the body matters. */
  readonly isOver: boolean;
  /**
   * Returns the last words and the rest, when the body has ended.
   * @throws ModelFailure when the answer was cut off, is empty, or cannot be read
   */
  end(): { text: string } & ModelEnd;
}

interface Reading {
  by: ModelName;
  protocol: Protocol;
  /** Whether an answer without words and tool calls is one. */
  mayBeEmpty: boolean;
  /** The reason in an error that the provider reports. */
  reasonIn(error: unknown): string;
}

export function answerReader({ by, protocol, mayBeEmpty, reasonIn }: Reading): AnswerReader {
  const heard = collect();
  const readEvent = protocol.listen(heard);
  const thoughts = withoutLeadingThoughts();
  let document: JsonReader | null = null;
  let isStream = false;
  let hasText = false;
  let failure: unknown;

  function readValue(value: unknown, type: string): void {
    // Some servers send the events of a stream as one list.
    if (Array.isArray(value)) for (const each of value) readValue(each, type);
    else if (isObject(value)) readEvent(value, type);
  }

  function readData(given: string, type = ""): void {
    const data = given.trim();
    if (heard.isOver || heard.reported) return;
    if (type === "error") heard.fail(data);
    else if (DONE.test(data)) heard.over();
    // Anything else keeps the connection alive.
    else if (/^[{[]/.test(data)) readValue(parsed(data), type);
  }

  /** Servers that leave out the blank lines between their events send one with all data in it. */
  function readLines(data: string, type: string | undefined): void {
    try {
      readData(data, type);
    } catch (error) {
      if (!(error instanceof SyntaxError) || !data.includes("\n")) throw error;
      for (const line of data.split("\n")) readData(line, type);
    }
  }

  const events = createParser({
    onEvent: ({ data, event }) => readLines(data, event),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") failure = error;
      // Older servers of llama.cpp send errors in a field of this name.
      else if (error.field === "error") readData(error.value ?? "", "error");
    },
    maxBufferSize: protocol.eventCharactersMax,
  });

  function take(received: string): void {
    const begun = isStream || document ? received : received.trimStart();
    if (begun === "") return;
    if (!isStream && !document && /^[{[]/.test(begun)) document = jsonReader();
    isStream = document === null;
    if (document) document.push(begun);
    else events.feed(begun);
  }

  /** What is left at the end of a stream is an event, if it is whole. */
  function endStream(): void {
    try {
      events.feed("\n\n");
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }

  function endDocument(whole: JsonReader): void {
    readValue(whole.end(), "");
    if (heard.isKnown) heard.over();
  }

  const reported = ({ error }: { error: unknown }) => reportedError(by.provider, error, reasonIn(error));

  function passOn(text: string): string {
    hasText ||= text !== "";
    return text;
  }

  return {
    read(received) {
      try {
        take(received);
      } catch (error) {
        failure ??= error;
      }
      if (heard.reported) failure ??= reported(heard.reported);
      return passOn(thoughts.push(heard.take()));
    },
    get failure() {
      return failure;
    },
    get isDocument() {
      return document !== null;
    },
    get hasEnded() {
      return heard.hasEnded;
    },
    get isEnding() {
      return heard.hasEnded && protocol.endsOnce;
    },
    get isOver() {
      return heard.isOver;
    },
    end() {
      if (document) endDocument(document);
      else if (!heard.isOver) endStream();
      if (heard.reported) throw reported(heard.reported);
      const text = passOn(thoughts.push(heard.take()) + thoughts.end());
      const toolCalls = heard.toolCalls();
      const { counts: usage, partialReason } = heard;
      // A stream without an end was cut off, even if the socket closed cleanly.
      if (!heard.hasEnded) throw endlessStream(by.provider, hasText || toolCalls.length > 0);
      if (!hasText && toolCalls.length === 0 && !mayBeEmpty) throw emptyAnswer(by.provider, partialReason);
      return { by, text, toolCalls, usage, partialReason };
    },
  };
}

/** Long texts are parsed piece by piece, and many small values not at all: both would block the event loop. */
function parsed(data: string): unknown {
  if (data.length <= SHORT_EVENT) return JSON.parse(data);
  const document = jsonReader();
  for (let at = 0; at < data.length; at += PARSED_AT_ONCE) document.push(data.slice(at, at + PARSED_AT_ONCE));
  return document.end();
}
