import { Command, Help } from "commander";
import manifest from "../package.json" with { type: "json" };
import { addAgentCommands } from "./commands/agent/agent.ts";
import { addAlertCommands } from "./commands/alert.ts";
import { addBatchCommands } from "./commands/batch.ts";
import { addCallCommand } from "./commands/call.ts";
import { addCallsCommands } from "./commands/calls.ts";
import { addCarrierCommands } from "./commands/carrier.ts";
import { addDailyCommand } from "./commands/daily.ts";
import { addDeliveryCommands } from "./commands/delivery.ts";
import { addDoNotCallCommands } from "./commands/do-not-call.ts";
import { addKeyCommands } from "./commands/key.ts";
import { addKnowledgeCommands } from "./commands/knowledge/knowledge.ts";
import { addNumberCommands } from "./commands/number.ts";
import { addOwnerCommands } from "./commands/owner.ts";
import { addSecretCommands } from "./commands/secret.ts";
import { addSessionCommands } from "./commands/session.ts";
import { addSettingsCommands } from "./commands/settings.ts";
import { addStatisticsCommand } from "./commands/statistics.ts";
import { addTestCommands } from "./commands/tests/test.ts";
import { addToolCommands } from "./commands/tool.ts";
import { addWebhookCommands } from "./commands/webhook.ts";
import { addWhatsAppCommands } from "./commands/whatsapp.ts";
import type { Environment } from "./connection.ts";
import { examples, inHelpOrder } from "./options.ts";

interface ProgramSettings {
  env: Environment;
  /** How the user calls this program. */
  command: string;
  /** Collects the parser's own output, so that a failed write can be handled like any other. */
  help: { out: string; err: string };
}

/** The whole command line. It parses values but leaves checks to the services, whose rules apply here too. */
export function createProgram({ env, command, help }: ProgramSettings): Command {
  const program = new Command(command)
    .description(
      "Manage the owners, API keys, versions of agents, carriers, phone numbers, settings, sessions, webhooks, alerts, tools, knowledge and secrets of a running Parley stack, show its statistics, test and call its agents, and have them call and message people.",
    )
    .usage("<noun> <verb> [options]")
    .version(`parley ${manifest.version}`, "-V, --version", "Print the version")
    // A verb may have options of the same names, such as --version.
    .enablePositionalOptions()
    .helpOption("-h, --help", "Show this help")
    .helpCommand("help [command]", "Show the help of a command")
    // The commands added below inherit these three settings.
    .exitOverride()
    .configureOutput({
      outputError: () => {},
      writeOut: (text) => {
        help.out += text;
      },
      writeErr: (text) => {
        help.err += text;
      },
    })
    .configureHelp({
      visibleOptions(command) {
        return inHelpOrder(Help.prototype.visibleOptions.call(this, command));
      },
      optionDescription(option) {
        const description = Help.prototype.optionDescription.call(this, option);
        return option.mandatory && option.defaultValue === undefined ? `Required. ${description}` : description;
      },
    });
  program.addHelpText(
    "after",
    `${examples(
      program,
      'owner create --name "Acme" --email ops@acme.example --tier pro',
      "owner password --owner own_…",
      'key create --owner own_… --name "CI" --scopes agents:read,chat',
      "key list --owner own_… --json",
      'webhook create --owner own_… --name "CRM" --url https://crm.example/hook --request-type POST',
      'call agt_… --say "When are you open?"',
    )}

Environment:
  PARLEY_ACCOUNT_ADDRESS  Address of the account service (default: from stack.json in PARLEY_HOME)
  PARLEY_WEBHOOK_ADDRESS  Address of the webhook dispatcher (default: likewise)
  PARLEY_CONVERSATION_ADDRESS  Address of the conversation service (default: likewise)
  PARLEY_VOICE_ADDRESS    Address of the voice service (default: likewise)
  PARLEY_URL, PARLEY_API_KEY  The public API and a key, for commands that use it (default: from dev.env in PARLEY_HOME)
  PARLEY_HOME             The stack's folder (default: .parley)
  PARLEY_OWNER_ID         The owner, for commands that take --owner
  PARLEY_TLS_CA, PARLEY_TLS_CERT, PARLEY_TLS_KEY  Certificates, where the services require them

Exit status: 0 for success, 1 if the command was refused or failed, 2 if the command line is wrong. "test run" has its own.`,
  );
  addOwnerCommands(program, env);
  addKeyCommands(program, env);
  addCarrierCommands(program, env);
  addNumberCommands(program, env);
  addSettingsCommands(program, env);
  addSessionCommands(program, env);
  addStatisticsCommand(program, env);
  addWebhookCommands(program, env);
  addDeliveryCommands(program, env);
  addAgentCommands(program, env);
  addAlertCommands(program, env);
  addToolCommands(program, env);
  addTestCommands(program, env);
  addKnowledgeCommands(program, env);
  addSecretCommands(program, env);
  addCallCommand(program, env);
  addCallsCommands(program, env);
  addDailyCommand(program, env);
  addBatchCommands(program, env);
  addDoNotCallCommands(program, env);
  addWhatsAppCommands(program, env);
  return program;
}
