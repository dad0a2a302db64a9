import { parseArgs } from "node:util";
import { spoken } from "../speech/spoken.ts";
import { type WebCall, webCall } from "./web-call.ts";

const USAGE = 'usage: bun dev/stand-ins/browser/main.ts <agent_id> ["What to say" …], after ". .parley/dev.env"';

// Does what a server and a page do in docs/calls.md#from-a-web-page, without a browser and a microphone.
const { positionals } = parseArgs({ allowPositionals: true });
const [agentId, ...lines] = positionals;
const { PARLEY_URL: url, PARLEY_API_KEY: apiKey, PARLEY_SPEECH_URL: speechUrl } = process.env;
if (!agentId || !url || !apiKey || !speechUrl) {
  console.error(USAGE);
  process.exit(2);
}
try {
  const audio = await Promise.all(lines.map((line) => spoken(speechUrl, line)));
  const call = await ask(url, apiKey, agentId);
  console.log(`Connected with ${agentId}.`);
  await webCall(call, audio, (who, text) => console.log(`${who === "user" ? "you  " : "agent"}  ${text}`));
  console.log(`The call is over. Conversation ${call.conversation_id}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
// A closed connection leaves timers behind, which wait for nothing.
process.exit(0);

/** Does what the page's server does. */
async function ask(api: string, key: string, agent_id: string): Promise<WebCall> {
  const response = await fetch(`${api}/v1/public/web-calls`, {
    method: "POST",
    headers: { "X-API-Key": key, "Content-Type": "application/json" },
    body: JSON.stringify({ agent_id }),
  });
  const answer = (await response.json()) as WebCall & { detail?: string };
  if (!response.ok) throw new Error(answer.detail ?? `The API answered with ${response.status}`);
  return answer;
}
