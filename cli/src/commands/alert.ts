import type { Alert } from "@parley/proto/parley/conversation/v1/alert.ts";
import { ALERT_METRICS } from "@parley/shared/portable/alerts";
import { type Command, Option } from "commander";
import { type Environment, requireOwner, withConversations } from "../connection.ts";
import { examples, type OwnerOptions, ownerVerb, parseNumber, parseWholeNumber } from "../options.ts";
import { presentAlert } from "../present.ts";
import { formatTable, print, printRecord } from "../print.ts";

interface RuleOptions {
  name: string;
  metric: string;
  threshold: number;
  windowMinutes?: number;
  minimumCount?: number;
  agent?: string;
}

interface ChangeOptions extends OwnerOptions, Partial<RuleOptions> {
  allAgents?: boolean;
  enable?: boolean;
  disable?: boolean;
}

const COLUMNS = ["alert_id", "name", "state", "metric", "value", "threshold", "window_minutes", "opened_at"];

export function addAlertCommands(program: Command, env: Environment): void {
  const alert = program
    .command("alert")
    .description("Manage the conditions of which an owner is told")
    .addHelpText(
      "after",
      examples(
        program,
        'alert create --owner own_… --name "Tools fail" --metric tool_failed_share --threshold 0.2',
        "alert list --owner own_… --open",
        "alert update alr_… --owner own_… --enable",
      ),
    );

  ownerVerb(alert, "list")
    .description("List an owner's alerts, oldest first, each with its state: open, ok, unchecked or off")
    .option("--open", "Only alerts that are open")
    .action(async ({ owner, open, json }: OwnerOptions & { open?: boolean }) => {
      // Otherwise a mistyped owner would be given the first alerts.
      await requireOwner(env, owner);
      const { alerts } = await withConversations(env, (service) => service.listAlerts({ ownerId: owner }));
      const shown = alerts.filter(({ isOpen }) => isOpen || !open);
      const rows = shown.map((each) => ({ ...presentAlert(each), state: stateOf(each) }));
      const none = `${owner} has no ${open ? "open alerts" : "alerts"}.`;
      await print(json, { alerts: shown.map(presentAlert) }, rows.length > 0 ? formatTable(COLUMNS, rows) : none);
    });

  withRule(ownerVerb(alert, "create").description("Create an alert"), (option) => option)
    .option("--disabled", "Do not check it until you enable it")
    .action(async (options: OwnerOptions & RuleOptions & { disabled?: boolean }) => {
      const { owner, agent = "", windowMinutes = 15, minimumCount = 1, disabled, json, ...rule } = options;
      await requireOwner(env, owner);
      const request = { ...rule, ownerId: owner, agentId: agent, windowMinutes, minimumCount, enabled: !disabled };
      await show(await withConversations(env, (service) => service.createAlert(request)), json);
    });

  withRule(
    ownerVerb(alert, "update")
      .description("Change an alert; options that you leave out stay as they are")
      .argument("<alert_id>"),
    (option) => option.makeOptionMandatory(false),
  )
    .addOption(new Option("--all-agents", "Count all agents again").conflicts("agent"))
    .addOption(new Option("--enable", "Check it from now on").conflicts("disable"))
    .option("--disable", "Check it no longer; an open alert is resolved")
    .action(async (alertId: string, options: ChangeOptions, command: Command) => {
      const { owner, agent, allAgents, enable, disable, json, ...rule } = options;
      const enabled = enable ? true : disable ? false : undefined;
      const change = { ...rule, agentId: allAgents ? "" : agent, enabled };
      if (Object.values(change).every((given) => given === undefined))
        command.error("error: give at least one option that changes the alert");
      const { name, metric, agentId, windowMinutes, threshold, minimumCount } = change;
      const fields = { name, enabled, metric, agentId, windowMinutes, threshold, minimumCount };
      const request = { ownerId: owner, alertId, ...fields };
      await show(await withConversations(env, (service) => service.updateAlert(request)), json);
    });

  ownerVerb(alert, "delete")
    .description("Delete an alert; an open one is resolved")
    .argument("<alert_id>")
    .action(async (alertId: string, { owner, json }: OwnerOptions) => {
      await withConversations(env, (service) => service.deleteAlert({ ownerId: owner, alertId }));
      await print(json, { alert_id: alertId, deleted: true }, `Deleted ${alertId}.`);
    });
}

/** The options of an alert's fields. @param required what is asked of those that a new one needs */
function withRule(command: Command, required: (option: Option) => Option): Command {
  const needed = (flags: string, description: string) => required(new Option(flags, description).makeOptionMandatory());
  return command
    .addOption(needed("--name <name>", "Name to recognize it by, up to 100 characters"))
    .addOption(needed("--metric <metric>", "What is watched").choices(ALERT_METRICS))
    .addOption(
      needed(
        "--threshold <number>",
        "Value from which on it opens: a share from 0 to 1, milliseconds, or US dollars",
      ).argParser(parseNumber),
    )
    .addOption(
      new Option("--window-minutes <number>", "Minutes before each check that count; 15 for a new one").argParser(
        parseWholeNumber,
      ),
    )
    .addOption(
      new Option("--minimum-count <number>", "Stays closed with fewer to measure; 1 for a new one").argParser(
        parseWholeNumber,
      ),
    )
    .option("--agent <agent_id>", "Only what this agent does counts, agt_…");
}

async function show({ alert }: { alert?: Alert | undefined }, json: boolean | undefined): Promise<void> {
  await printRecord(json, presentAlert(alert));
}

function stateOf({ enabled, isOpen, checkedAt }: Alert): "off" | "open" | "ok" | "unchecked" {
  if (!enabled) return "off";
  if (isOpen) return "open";
  return checkedAt ? "ok" : "unchecked";
}
