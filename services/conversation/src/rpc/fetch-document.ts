import { ServiceError } from "@parley/shared/errors";
import type { ConversationContext, Handler } from "../context.ts";
import { countAnswers, TOO_MANY_ANSWERS } from "../tools/answer-shares.ts";
import { send } from "../tools/http/send.ts";

const BYTES_MAX = 4 * 1024 * 1024;
const WITHIN_MS = 20_000;
const ACCEPT = "application/json, application/yaml;q=0.9, text/*;q=0.8, */*;q=0.1";

/** Reads a document at an address that an owner gives, as tools send requests: through the egress guard, with one redirect at most. */
export function fetchDocument({ httpTools }: Pick<ConversationContext, "httpTools">): Handler<"fetchDocument"> {
  return async ({ ownerId, url }, call) => {
    const own = new AbortController();
    const end = (why: string) => own.abort(new ServiceError("condition", why));
    const timer = setTimeout(() => end(`The server did not answer within ${WITHIN_MS / 1_000} s`), WITHIN_MS);
    const signal = AbortSignal.any([call.signal, own.signal]);
    const release = countAnswers(httpTools.answers, { ownerId, signal, full: () => end(TOO_MANY_ANSWERS) });
    const request = { method: "GET", url, headers: { accept: ACCEPT, "user-agent": "Parley" }, body: "" };
    const sending = {
      ask: httpTools.ask,
      signal,
      deadlineAt: performance.now() + WITHIN_MS,
      retries: 0,
      bytesMax: BYTES_MAX,
      began: () => {},
      finish: () => request,
    };
    const received = await send(request, sending).finally(() => {
      clearTimeout(timer);
      release();
    });
    if (received instanceof Error) throw new ServiceError("condition", received.message);
    if (received.status !== 200)
      throw new ServiceError("condition", `The server answered with HTTP status ${received.status}`);
    if (received.isCut) throw new ServiceError("condition", `The document is longer than ${BYTES_MAX} bytes`);
    return { text: received.text };
  };
}
