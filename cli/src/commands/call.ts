import { ConfigError } from "@parley/shared/config";
import { ServiceError } from "@parley/shared/errors";
import { resampler } from "@parley/shared/media/resample";
import { readWav, type Wav } from "@parley/shared/media/wav";
import { PHONE_HZ } from "@parley/shared/phone/audio";
import { NotAnswered } from "@parley/shared/phone/dial";
import type { Command } from "commander";
import { call } from "../call/caller.ts";
import { type CallConversation, type Captions, callApi, followCall } from "../call/captions.ts";
import { phoneCall } from "../call/phone-call.ts";
import { isOwnNumber, ringNumber } from "../call/ring-number.ts";
import { apiAddress, carrierStandIn, type StackAddresses, stackAddresses } from "../call/stack-addresses.ts";
import type { Environment } from "../connection.ts";
import { examples, repeatableOption, verb } from "../options.ts";
import { formatRecord, print, visible, write } from "../print.ts";
import { publicApi } from "../public-api.ts";

interface CallCommandOptions {
  agent?: string;
  say?: string[];
  wav?: string[];
  record?: string;
  json?: boolean;
}

/** The one of the stand-in's voices that it understands best itself. */
const VOICE = "kal16";
const SPOKEN_WITHIN_MS = 30_000;

export function addCallCommand(program: Command, env: Environment): void {
  verb(program, "call")
    .description(
      "Call an agent of the stack on this machine and follow the conversation, or have an agent call a number",
    )
    .argument(
      "<agent_id|mobile_number>",
      "The agent that you call, agt_…, one of your numbers, which a phone of the stand-in carrier calls, or the number that --agent calls, +…",
    )
    .option("--agent <agent_id>", "The agent that calls the number")
    .addOption(
      repeatableOption(
        "--say <text>",
        "Say this in the speech stand-in's voice when the agent has finished; repeatable",
      ),
    )
    .addOption(
      repeatableOption(
        "--wav <file>",
        "Play this WAV file (16-bit PCM) when the agent has finished, after all --say; repeatable",
      ),
    )
    .option("--record <file>", "Write both sides to a stereo WAV file, the agent on the right")
    .addHelpText(
      "after",
      `
Without --say and --wav it listens until the agent hangs up. Ctrl-C hangs up. The stand-in carrier's phone says a sentence of its own
without --say.
${examples(program, 'call agt_… --say "When are you open?" --say "Thank you, bye." --record call.wav', 'call +12025550100 --say "When are you open?"', "call +14155550188 --agent agt_…")}`,
    )
    .action(async (agentId: string, { agent, say = [], wav = [], record, json }: CallCommandOptions) => {
      if (agentId.startsWith("+"))
        return agent
          ? callNumber(env, agentId, agent, json)
          : ring(env, agentId, { say, hasAudio: wav.length > 0 || record !== undefined, json });
      const stack = stackAddresses(env);
      const lines = [
        ...(await Promise.all(say.map((text) => spoken(stack, text)))),
        ...(await Promise.all(wav.map(read))),
      ];
      const hangUp = new AbortController();
      const stop = () => hangUp.abort();
      process.once("SIGINT", stop);
      let told = Promise.resolve();
      const tell = (line: string) => {
        if (!json) told = told.then(() => write(process.stdout, `${visible(line)}\n`));
        // When nobody can read on, the call ends as by Ctrl-C.
        told.catch(stop);
        return told;
      };

      const api = callApi(stack.url, stack.apiKey);
      const known = await api.newest(agentId).catch(() => null);
      let captions: Captions | null = null;
      try {
        const recorded = await call({
          server: stack.sip,
          callee: agentId,
          lines: lines.length > 0 ? lines : null,
          signal: hangUp.signal,
          connected: () => {
            void tell(`Connected with ${agentId}. Ctrl-C hangs up.`);
            captions = followCall(api, agentId, known?.conversation_id ?? null, (role, content) =>
              tell(captionOf(role, content)),
            );
          },
        });
        if (record) await Bun.write(record, recorded.file());
        const conversation = (await (captions as Captions | null)?.end()) ?? null;
        await told;
        await show(conversation, record, json);
      } catch (error) {
        throw error instanceof NotAnswered ? await refused(env, error, agentId) : error;
      } finally {
        process.off("SIGINT", stop);
      }
    });
}

/** Has a phone of the stand-in carrier call one of the owner's numbers. */
async function ring(
  env: Environment,
  to: string,
  { say, hasAudio, json }: { say: readonly string[]; hasAudio: boolean; json: boolean | undefined },
): Promise<void> {
  if (!(await isOwnNumber(publicApi(env), to)))
    throw new ConfigError(`${to} is not one of your numbers. Name the agent that calls the number: --agent agt_…`);
  if (hasAudio) throw new ConfigError("A phone of the stand-in carrier plays and records no files: use --say");
  const stack = { ...apiAddress(env), carrierUrl: carrierStandIn(env) };
  const tell = (line: string) => (json ? Promise.resolve() : write(process.stdout, `${visible(line)}\n`));
  await tell(`A phone of the stand-in carrier calls ${to}.`);
  const { conversation, ...rung } = await ringNumber(stack, { to, say }, (role, content) =>
    tell(captionOf(role, content)),
  );
  if (conversation) return show(conversation, undefined, json);
  await print(
    json,
    { ...rung, conversation_id: null },
    [`No agent answered: ${rung.status}`, ...rung.notes].join("\n"),
  );
}

const SIDES: Readonly<Record<string, string>> = { user: "you", tool: "tool" };

function captionOf(role: string, content: string): string {
  return `${(SIDES[role] ?? "agent").padEnd(5)}  ${content}`;
}

async function callNumber(env: Environment, to: string, agentId: string, json: boolean | undefined): Promise<void> {
  const hangUp = new AbortController();
  const stop = () => hangUp.abort();
  process.once("SIGINT", stop);
  try {
    const ended = await phoneCall(publicApi(env), { agentId, to }, hangUp.signal, (status) =>
      json ? Promise.resolve() : write(process.stdout, `${status}\n`),
    );
    await print(json, ended, formatRecord(ended));
  } finally {
    process.off("SIGINT", stop);
  }
}

/** Speaks a text with the stack's stand-in. @throws ServiceError when it does not answer */
async function spoken({ speechUrl }: StackAddresses, text: string): Promise<Int16Array> {
  const unavailable = (why: string) => new ServiceError("unavailable", `The speech stand-in at ${speechUrl} ${why}`);
  const response = await fetch(`${speechUrl}/audio/speech`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ input: text, voice: VOICE }),
    signal: AbortSignal.timeout(SPOKEN_WITHIN_MS),
  }).catch(() => {
    throw unavailable("does not answer");
  });
  const wav = response.ok ? readWav(new Uint8Array(await response.arrayBuffer())) : null;
  if (!wav) throw unavailable(`could not speak (${response.status})`);
  return asPhoneAudio(wav);
}

/** @throws ConfigError when the file cannot be used */
async function read(path: string): Promise<Int16Array> {
  const bytes = await Bun.file(path)
    .bytes()
    .catch(() => {
      throw new ConfigError(`${path} cannot be read`);
    });
  const wav = readWav(bytes);
  if (!wav)
    throw new ConfigError(`${path} is not a WAV file of 16-bit PCM: convert it, such as by ffmpeg -i … ${path}`);
  return asPhoneAudio(wav);
}

/** The first channel. */
function asPhoneAudio({ samplesPerSecond, channels, samples }: Wav): Int16Array {
  const one = samples.filter((_, at) => at % channels === 0);
  return resampler(samplesPerSecond, PHONE_HZ)(one);
}

async function show(
  conversation: CallConversation | null,
  record: string | undefined,
  json: boolean | undefined,
): Promise<void> {
  const { conversation_id = null, conversation_status = null, conversation_transcript } = conversation ?? {};
  const document = {
    conversation_id,
    conversation_status,
    conversation_transcript: conversation_transcript ?? [],
    recording: record ?? null,
  };
  const over = conversation
    ? `The call is over. Conversation ${conversation_id}: ${conversation_status}`
    : "The call is over. The key in PARLEY_API_KEY cannot read its conversation.";
  await print(json, document, record ? `${over}\nRecorded to ${record}` : over);
}

/** The meaning of a refusal by the voice service for the caller. */
async function refused(env: Environment, { status, message }: NotAnswered, agentId: string): Promise<ServiceError> {
  if (status === 404) return new ServiceError("not_found", `There is no agent ${agentId} on this stack`);
  if (status === 480) return new ServiceError("condition", await whatLacks(env, agentId));
  if (status === 486)
    return new ServiceError("rate_limited", "Its account has reached its limit of calls: try again later");
  if (status === 408)
    return new ServiceError("unavailable", 'No answer. If the stack is not running, start it with "bun run start".');
  return new ServiceError("unavailable", message);
}

/** SIP does not say it to a stranger. A web call, which nobody joins, is refused for the same reason and says it. */
async function whatLacks(env: Environment, agentId: string): Promise<string> {
  const unsaid = `Agent ${agentId} cannot be called: it lacks a model, a voice, or a provider's key: see the log of the voice service`;
  return publicApi(env)
    .post("/web-calls", { agent_id: agentId })
    .then(
      () => unsaid,
      (error: unknown) => (error instanceof ServiceError && error.kind === "condition" ? error.detail : unsaid),
    );
}
