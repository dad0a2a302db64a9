import type { Answer } from "@parley/shared/egress/answer";
import type { Send } from "../bounded-fetch.ts";
import { isBrokenConnection, refusedCall, unreachable } from "../failure.ts";
import type { ModelName, ModelRequest, ReplyMode } from "../port.ts";
import { upstreamReason } from "../upstream-reason.ts";
import { callOptions, type ModelSettings } from "./prompt.ts";
import { secretsOf, type WriteRequest, type WrittenRequest, withoutStreamOptions } from "./written-request.ts";

/** How a model is reached. */
export interface Endpoint {
  by: ModelName;
  writeRequest: WriteRequest;
  settings: ModelSettings;
  send: Send;
  /** Where to remember what the server refuses; nothing for a server that others share. */
  refused?: RefusedFeatures;
}

/** What a model's server has refused, and is not asked for again. */
export interface RefusedFeatures {
  /** The usage at the end of a stream. */
  streamOptions: boolean;
  /** Messages of the role `system`. */
  systemRole: boolean;
}

interface RequestSender {
  /**
   * Returns the answer once its head has arrived. A server that refuses a request as wrong is asked once more without what it may not
   * know: the role of the system prompt, the usage of a stream, and the schema of a JSON answer, whose form the prompt states too.
   * @throws ModelFailure for a refusal and a broken connection; what `send` throws
   */
  ask(request: ModelRequest, mode: ReplyMode, signal: AbortSignal): Promise<Asking>;
}

interface Asking {
  answer: Answer;
  /** What must not appear in a message. */
  secrets: readonly string[];
}

/** How servers refuse a field that they do not know. */
const WRONG_REQUEST: readonly number[] = [400, 422];
/** What templates without that role say, once the other roles alternate. */
const NO_SYSTEM_ROLE = /\bsystem (?:role|message|prompt)|roles must alternate/i;
/** What is read of the body of an error. */
const ERROR_CHARACTERS_MAX = 16 * 1024;
/** How long is waited for it: the next model may answer meanwhile. */
const ERROR_WITHIN_MS = 1_000;

export function requestSender({ by, writeRequest, settings, send, refused }: Endpoint): RequestSender {
  async function write(
    request: ModelRequest,
    mode: ReplyMode,
    isSystemSaid = refused?.systemRole,
  ): Promise<WrittenRequest> {
    const written = await writeRequest(callOptions(request, { ...settings, isSystemSaid }), mode);
    return (refused?.streamOptions && withoutStreamOptions(written)) || written;
  }

  function sendOff({ url, init }: WrittenRequest, signal: AbortSignal): Promise<Answer> {
    return send(url, { ...init, signal }).catch((error: unknown) => {
      throw isBrokenConnection(error) ? unreachable(by.provider, error) : error;
    });
  }

  /**
   * Returns null when the request has nothing that it could do without.
   * @param reason why the server refused it
   */
  async function plainer(
    written: WrittenRequest,
    request: ModelRequest,
    mode: ReplyMode,
    reason: string,
  ): Promise<{ written: WrittenRequest; without: keyof RefusedFeatures | null } | null> {
    if (request.system !== "" && !refused?.systemRole && NO_SYSTEM_ROLE.test(reason))
      return { written: await write(request, mode, true), without: "systemRole" };
    const { answer, ...free } = request;
    const unformed = answer ? await write(free, mode) : written;
    const untold = withoutStreamOptions(unformed);
    if (untold) return { written: untold, without: "streamOptions" };
    return answer ? { written: unformed, without: null } : null;
  }

  return {
    async ask(request, mode, signal) {
      const written = await write(request, mode);
      const secrets = secretsOf(written);
      const answer = await sendOff(written, signal);
      if (isGood(answer)) return { answer, secrets };
      const refusal = await refusalOf(by.provider, answer, secrets);
      const simpler = WRONG_REQUEST.includes(answer.status)
        ? await plainer(written, request, mode, refusal.detail)
        : null;
      if (!simpler) throw refusal;
      const second = await sendOff(simpler.written, signal);
      if (!isGood(second)) throw await refusalOf(by.provider, second, secrets);
      if (refused && simpler.without) refused[simpler.without] = true;
      return { answer: second, secrets };
    },
  };
}

function isGood({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

async function refusalOf(provider: string, answer: Answer, secrets: readonly string[]) {
  return refusedCall(provider, answer, upstreamReason(await beginningOf(answer), secrets));
}

/** The beginning of a body, as far as it can be read soon. */
async function beginningOf(answer: Answer): Promise<string> {
  const decoder = new TextDecoder();
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), ERROR_WITHIN_MS);
  let text = "";
  try {
    while (text.length < ERROR_CHARACTERS_MAX) {
      const chunks = await Promise.race([answer.read(), late]);
      if (!chunks) break;
      for (const chunk of chunks) text += decoder.decode(chunk, { stream: true });
    }
  } catch {
    // What arrived of it may say enough.
  } finally {
    clearTimeout(timer);
    answer.cancel();
  }
  return text.slice(0, ERROR_CHARACTERS_MAX);
}
