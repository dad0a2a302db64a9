import { ConfigError } from "@parley/shared/config";
import { type Command, Option } from "commander";
import type { Environment } from "../connection.ts";
import { examples, verb } from "../options.ts";
import { formatRecord, print, type Value } from "../print.ts";
import { publicApi } from "../public-api.ts";

interface SendOptions {
  agent: string;
  template: string;
  language: string;
  value?: string[];
  components?: string;
  json?: boolean;
}

export function addWhatsAppCommands(program: Command, env: Environment): void {
  const more = (value: string, before: string[] = []) => [...before, value];
  const whatsApp = program
    .command("whatsapp")
    .description("Write to people on WhatsApp, with the key in PARLEY_API_KEY")
    .addHelpText(
      "after",
      examples(
        program,
        "whatsapp send +14155550123 --agent agt_… --template order_update --language en_US --value Ada",
      ),
    );

  verb(whatsApp, "send")
    .description("Open a conversation with a template that Meta has approved; the agent answers the person's replies")
    .argument("<mobile_number>", "The person's number in E.164 form, such as +14155550123")
    .requiredOption("--agent <agent_id>", "The agent that writes, agt_…; it must have a WhatsApp number")
    .requiredOption("--template <name>", "Name of the template at Meta")
    .requiredOption("--language <code>", "Language code of the template at Meta, such as en_US")
    .addOption(
      new Option("--value <text>", "The value for the next placeholder in the template's body; repeatable").argParser(
        more,
      ),
    )
    .addOption(
      new Option(
        "--components <file>",
        "All values, as a JSON array of components in the form of Meta's API",
      ).conflicts("value"),
    )
    .addHelpText(
      "after",
      examples(
        program,
        "whatsapp send +14155550123 --agent agt_… --template order_update --language en_US --value Ada",
      ),
    )
    .action(async (to: string, { agent, template, language, value, components, json }: SendOptions) => {
      const given = components ? await readComponents(components) : bodyOf(value);
      const sent = await publicApi(env).post<Record<string, Value>>("/whatsapp/messages", {
        agent_id: agent,
        to_mobile_number: to,
        template: { name: template, language, ...(given && { components: given }) },
      });
      await print(json, sent, formatRecord(sent));
    });
}

function bodyOf(values: readonly string[] | undefined): object[] | undefined {
  return values && [{ type: "body", parameters: values.map((text) => ({ type: "text", text })) }];
}

/** @throws ConfigError when the file has no such array */
async function readComponents(path: string): Promise<unknown[]> {
  const text = await Bun.file(path)
    .text()
    .catch(() => {
      throw new ConfigError(`${path} cannot be read`);
    });
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value;
  } catch {
    // The code below tells the user.
  }
  throw new ConfigError(`${path} must be a JSON array of components, such as [{ "type": "body", "parameters": [] }]`);
}
