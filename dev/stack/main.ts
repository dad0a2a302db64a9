import { relative } from "node:path";
import { onStop } from "../processes/stop-signals.ts";
import { openHome } from "./home.ts";
import { readStackSettings } from "./settings.ts";
import { type Stack, type StackSummary, startStack } from "./stack.ts";

/** `bun run start` runs everything on this machine until Ctrl-C. */
let stack: Stack | null = null;
let stopping = false;
onStop(async () => {
  stopping = true;
  console.log("Stopping");
  await stack?.stop();
  console.log("Stopped");
  process.exit(0);
});

try {
  const settings = readStackSettings(process.env);
  const home = openHome(settings.PARLEY_HOME);
  console.log(`Starting Parley in ${home.path}`);
  stack = await startStack(home, settings, process.env, console.log);
  console.log(introduction(await stack.up));
} catch (error) {
  if (!stopping) {
    console.error(error instanceof Error ? error.message : error);
    await stack?.stop();
    process.exit(1);
  }
}

function introduction({
  url,
  modelUrl,
  speechUrl,
  carrierUrl,
  whatsAppUrl,
  dailyUrl,
  sipAddress,
  devEnv,
  login,
}: StackSummary): string {
  const below = relative(process.cwd(), devEnv);
  const path = below.startsWith("..") ? devEnv : `./${below}`;
  const file = /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
  return `
Parley is up. Ctrl-C stops it.

  Open   ${url}/ in a browser
         Email ${login.email}, password ${login.password} (unless you changed it)

  API    ${url}
  Model  ${modelUrl} (stand-in, for agents with the provider CUSTOM_LLM)
  Speech ${speechUrl} (stand-in, for agents with the providers CUSTOM_STT and CUSTOM_TTS)
  Phone  ${carrierUrl} (stand-in for Twilio and Plivo)
  Chat   ${whatsAppUrl} (stand-in for WhatsApp)
  Rooms  ${dailyUrl} (stand-in for Daily)
  Calls  sip:<agent id>@${sipAddress}, from this machine
  Key    ${file}, with the password to sign in with

Try it in another terminal:

  . ${file} && curl -s "$PARLEY_URL/v1/public/agents" -H "X-API-Key: $PARLEY_API_KEY"
`;
}
