import { setTimeout as sleep } from "node:timers/promises";
import type { Delivery } from "@parley/proto/parley/webhook/v1/webhook.ts";
import { namesOf, numberOf, REQUEST_TYPES, RETRY_SCHEDULES } from "@parley/shared/domain/api-names";
import { EVENT_NAMES } from "@parley/shared/portable/events";
import { type Command, Option } from "commander";
import { type DispatcherClient, type Environment, requireOwner, withDispatcher } from "../connection.ts";
import { examples, type OwnerOptions, ownerVerb, repeatableOption, wordOption } from "../options.ts";
import { presentDelivery, presentDestination, presentNewDestination } from "../present.ts";
import { formatRecord, formatTable, print, printRecord } from "../print.ts";
import { formatDelivery } from "./delivery.ts";

interface NewDestinationOptions extends OwnerOptions {
  name: string;
  url: string;
  requestType: keyof typeof REQUEST_TYPES;
  retrySchedule: keyof typeof RETRY_SCHEDULES;
  disabled?: boolean;
  event?: string[];
}

interface ChangeOptions extends OwnerOptions {
  name?: string;
  url?: string;
  requestType?: keyof typeof REQUEST_TYPES;
  retrySchedule?: keyof typeof RETRY_SCHEDULES;
  event?: string[];
  enable?: boolean;
  disable?: boolean;
}

/** Longer than an attempt, which takes at most ten seconds. */
const TEST_WITHIN_MS = 12_000;
const LOOK_EVERY_MS = 100;

export function addWebhookCommands(program: Command, env: Environment): void {
  const webhook = program
    .command("webhook")
    .description("Manage the destinations that an owner's events are sent to")
    .addHelpText(
      "after",
      examples(
        program,
        'webhook create --owner own_… --name "CRM" --url https://crm.example/hook --request-type POST',
        "webhook test whd_… --owner own_… --event conversation.started",
        "webhook update whd_… --owner own_… --disable",
      ),
    );

  ownerVerb(webhook, "create")
    .description("Create a destination and show its signing secret; it is not shown again")
    .requiredOption("--name <name>", "Name that identifies the destination, up to 100 characters")
    .requiredOption("--url <url>", "Address, starting with https://")
    .addOption(requestTypeOption().makeOptionMandatory())
    .addOption(retryScheduleOption().default("standard"))
    .addOption(eventsOption("An event that it gets; repeat for several. Default: the ends of conversations"))
    .option("--disabled", "Send nothing until you enable it")
    .addHelpText(
      "after",
      examples(program, 'webhook create --owner own_… --name "CRM" --url https://crm.example/hook --request-type POST'),
    )
    .action(async ({ owner, name, url, requestType, retrySchedule, event, disabled, json }: NewDestinationOptions) => {
      await requireOwner(env, owner);
      const request = {
        ownerId: owner,
        name,
        url,
        requestType: REQUEST_TYPES[requestType],
        retrySchedule: RETRY_SCHEDULES[retrySchedule],
        enabled: !disabled,
        events: event && { names: event },
      };
      const response = await withDispatcher(env, (dispatcher) => dispatcher.createDestination(request));
      const fields = presentNewDestination(response.destination, response.secret);
      await print(json, fields, `${formatRecord(fields)}\n\nKeep the secret now: it is not shown again.`);
    });

  ownerVerb(webhook, "list")
    .description("List an owner's destinations, oldest first")
    .action(async ({ owner, json }: OwnerOptions) => {
      const response = await withDispatcher(env, (dispatcher) => dispatcher.listDestinations({ ownerId: owner }));
      if (response.destinations.length === 0) await requireOwner(env, owner);
      const destinations = response.destinations.map(presentDestination);
      const columns = ["destination_id", "name", "request_type", "url", "status"];
      const text = formatTable(columns, destinations);
      await print(json, { destinations }, destinations.length > 0 ? text : `${owner} has no destinations yet.`);
    });

  ownerVerb(webhook, "update")
    .description("Change a destination; options that you leave out stay as they are")
    .argument("<destination_id>")
    .option("--name <name>", "Name, up to 100 characters")
    .option("--url <url>", "Address, starting with https://")
    .addOption(requestTypeOption())
    .addOption(retryScheduleOption())
    .addOption(eventsOption("An event that it gets from now on; repeat for several"))
    .addOption(new Option("--enable", "Send events to the destination again").conflicts("disable"))
    .option("--disable", "Stop sending and cancel pending deliveries")
    .addHelpText("after", examples(program, "webhook update whd_… --owner own_… --url https://crm.example/new"))
    .action(async (destinationId: string, options: ChangeOptions, command: Command) => {
      const { owner, name, url, requestType, retrySchedule, event, enable, disable, json } = options;
      const enabled = enable ? true : disable ? false : undefined;
      if ([name, url, requestType, retrySchedule, event, enabled].every((given) => given === undefined))
        command.error(
          "error: give at least one of --name, --url, --request-type, --retry-schedule, --event, --enable and --disable",
        );
      const { destination } = await withDispatcher(env, (dispatcher) =>
        dispatcher.updateDestination({
          ownerId: owner,
          destinationId,
          name,
          url,
          requestType: numberOf(REQUEST_TYPES, requestType),
          retrySchedule: retrySchedule && RETRY_SCHEDULES[retrySchedule],
          enabled,
          events: event && { names: event },
        }),
      );
      await printRecord(json, presentDestination(destination));
    });

  ownerVerb(webhook, "rotate")
    .description("Give a destination a new secret and show it once; the old one stays valid for 24 hours")
    .argument("<destination_id>")
    .action(async (destinationId: string, { owner, json }: OwnerOptions) => {
      const { secret, oldSecretValidUntil } = await withDispatcher(env, (dispatcher) =>
        dispatcher.rotateSecret({ ownerId: owner, destinationId }),
      );
      const validUntil = oldSecretValidUntil?.toISOString() ?? null;
      const fields = { destination_id: destinationId, secret, old_secret_valid_until: validUntil };
      await print(json, fields, `${formatRecord(fields)}\n\nKeep the secret now: it is not shown again.`);
    });

  ownerVerb(webhook, "test")
    .description("Send a sample event and show the outcome of its first attempt")
    .argument("<destination_id>")
    .addOption(new Option("--event <event>", "Which event").choices(EVENT_NAMES).default("conversation.completed"))
    .action(async (destinationId: string, { owner, event, json }: OwnerOptions & { event: string }) => {
      const delivery = await withDispatcher(env, async (dispatcher) => {
        const { deliveryId } = await dispatcher.sendTestEvent({ ownerId: owner, destinationId, event });
        return attempted(dispatcher, owner, deliveryId);
      });
      await print(json, presentDelivery(delivery), formatDelivery(delivery));
    });

  ownerVerb(webhook, "delete")
    .description("Delete a destination and cancel its pending deliveries; they stay in the log")
    .argument("<destination_id>")
    .action(async (destinationId: string, { owner, json }: OwnerOptions) => {
      await withDispatcher(env, (dispatcher) => dispatcher.deleteDestination({ ownerId: owner, destinationId }));
      await print(json, { destination_id: destinationId, deleted: true }, `Deleted ${destinationId}.`);
    });
}

function requestTypeOption(): Option {
  return wordOption("--request-type <method>", "HTTP method that events are sent with", namesOf(REQUEST_TYPES));
}

function retryScheduleOption(): Option {
  const description = "When failed attempts are repeated: four attempts, or eight over 24 hours";
  return new Option("--retry-schedule <schedule>", description).choices(namesOf(RETRY_SCHEDULES));
}

function eventsOption(description: string): Option {
  return repeatableOption("--event <event>", description, EVENT_NAMES);
}

/** Waits for a delivery's first attempt; returns the delivery in its current state when that takes too long. */
async function attempted(
  dispatcher: DispatcherClient,
  ownerId: string,
  deliveryId: string,
): Promise<Delivery | undefined> {
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    const { delivery } = await dispatcher.getDelivery({ ownerId, deliveryId });
    if ((delivery?.attempts.length ?? 0) > 0 || waitedMs >= TEST_WITHIN_MS) return delivery;
    await sleep(LOOK_EVERY_MS);
  }
}
