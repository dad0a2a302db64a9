import { ServiceError } from "@parley/shared/errors";
import type { Command } from "commander";
import { type CallConversation, callApi, followCall } from "../call/captions.ts";
import { apiAddress, dailyStandIn } from "../call/stack-addresses.ts";
import type { Environment } from "../connection.ts";
import { examples, repeatableOption, verb } from "../options.ts";
import { formatRecord, print, visible, write } from "../print.ts";
import { publicApi } from "../public-api.ts";

interface DailyOptions {
  say?: string[];
  expiresIn?: string;
  json?: boolean;
}

type Session = Record<"conversation_id" | "room_url" | "room_name" | "token" | "expires_at", string>;

const REQUEST_MS = 5_000;

export function addDailyCommand(program: Command, env: Environment): void {
  verb(program, "daily")
    .description("Open a Daily room with an agent, for a browser or for a person that the stand-in plays")
    .argument("<agent_id>", "The agent, agt_…")
    .addOption(
      repeatableOption("--say <text>", "Have the stand-in's person say this when the agent has finished; repeatable"),
    )
    .option("--expires-in <seconds>", "Seconds until the room closes (default: 3600)")
    .addHelpText(
      "after",
      `
Without --say it prints the address to open in a browser. With it, it follows the conversation to its end.
${examples(program, "daily agt_…", 'daily agt_… --say "When are you open?" --say "Thank you, bye."')}`,
    )
    .action(async (agentId: string, { say, expiresIn, json }: DailyOptions) => {
      const standIn = say && dailyStandIn(env);
      const session = await publicApi(env).post<Session>("/daily/sessions", {
        agent_id: agentId,
        ...(expiresIn && { expires_in_seconds: Number(expiresIn) }),
      });
      if (!standIn) {
        const shown = { ...session, open: `${session.room_url}?t=${session.token}` };
        return print(json, shown, formatRecord(shown));
      }
      const tell = (line: string) => (json ? Promise.resolve() : write(process.stdout, `${visible(line)}\n`));
      await enter(standIn, session, say);
      await tell(`Somebody has entered ${session.room_url}.`);
      const conversation = await follow(env, session.conversation_id, (role, content) =>
        tell(`${role === "user" ? "you  " : "agent"}  ${content}`),
      );
      const { conversation_status: status = null, conversation_transcript: transcript } = conversation ?? {};
      const document = { conversation_id: session.conversation_id, conversation_status: status };
      const over = `The session is over. Conversation ${session.conversation_id}: ${status ?? "unknown"}`;
      await print(json, { ...document, conversation_transcript: transcript ?? [] }, over);
    });
}

/** Makes a person of the stand-in enter and talk. @throws ServiceError if there is no stand-in, or the room is at another Daily */
async function enter(standIn: string, { room_name, token }: Session, say: readonly string[]): Promise<void> {
  const url = new URL(`/control/rooms/${encodeURIComponent(room_name)}/join`, standIn);
  const response = await fetch(url, {
    method: "POST",
    body: JSON.stringify({ token, say }),
    signal: AbortSignal.timeout(REQUEST_MS),
  }).catch((cause: unknown) => {
    throw new ServiceError("unavailable", `Daily's stand-in at ${standIn} does not answer`, { cause });
  });
  if (response.ok) return;
  const { detail = `it answered with ${response.status}` } = (await response.json().catch(() => ({}))) as {
    detail?: string;
  };
  throw new ServiceError("condition", `The person could not enter the room: ${detail}`);
}

/** Waits until the conversation has ended. */
async function follow(
  env: Environment,
  conversationId: string,
  say: (role: string, content: string) => Promise<void>,
): Promise<CallConversation | null> {
  const { url, apiKey } = apiAddress(env);
  const { find } = callApi(url, apiKey);
  return followCall({ find, newest: () => find(conversationId) }, "", null, say).over();
}
