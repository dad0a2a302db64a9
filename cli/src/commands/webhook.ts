import { setTimeout as sleep } from "node:timers/promises";
import type { Delivery } from "@parley/proto/parley/webhook/v1/webhook.ts";
import { namesOf, numberOf, REQUEST_TYPES } from "@parley/shared/api-names";
import { type Command, Option } from "commander";
import { type DispatcherClient, type Environment, withAccount, withDispatcher } from "../connection.ts";
import { jsonOption, ownerOption } from "../options.ts";
import { presentDelivery, presentDestination, presentNewDestination } from "../present.ts";
import { formatRecord, formatTable, print } from "../print.ts";
import { formatDelivery } from "./delivery.ts";

interface OwnerOptions {
  owner: string;
  json?: boolean;
}

interface NewDestinationOptions extends OwnerOptions {
  name: string;
  url: string;
  requestType: keyof typeof REQUEST_TYPES;
  disabled?: boolean;
}

interface ChangeOptions extends OwnerOptions {
  name?: string;
  url?: string;
  requestType?: keyof typeof REQUEST_TYPES;
  enable?: boolean;
  disable?: boolean;
}

/** An attempt takes ten seconds at most. */
const TEST_WITHIN_MS = 12_000;
const LOOK_EVERY_MS = 100;

export function addWebhookCommands(program: Command, env: Environment): void {
  const webhook = program
    .command("webhook")
    .description("where an owner's events are sent when conversations end")
    .addHelpText(
      "after",
      `
Examples:
  $ bun run parley webhook create --owner own_… --name "CRM" --url https://crm.example/hook --request-type POST
  $ bun run parley webhook test whd_… --owner own_…
  $ bun run parley webhook update whd_… --owner own_… --disable`,
    );

  webhook
    .command("create")
    .description("makes a destination and shows its signing secret, this once")
    .addOption(ownerOption())
    .requiredOption("--name <name>", "to tell it from others, up to 100 characters")
    .requiredOption("--url <url>", "where to, starting with https://")
    .addOption(requestTypeOption().makeOptionMandatory())
    .option("--disabled", "nothing is sent until it is enabled")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Example:
  $ bun run parley webhook create --owner own_… --name "CRM" --url https://crm.example/hook --request-type POST`,
    )
    .action(async ({ owner, name, url, requestType, disabled, json }: NewDestinationOptions) => {
      // The dispatcher takes any owner's id; a mistyped one would own a destination that nothing is ever sent to.
      await withAccount(env, (account) => account.getOwner({ ownerId: owner }));
      const request = { ownerId: owner, name, url, requestType: REQUEST_TYPES[requestType], enabled: !disabled };
      const response = await withDispatcher(env, (dispatcher) => dispatcher.createDestination(request));
      const fields = presentNewDestination(response.destination, response.secret);
      print(json, fields, `${formatRecord(fields)}\n\nKeep the secret now: it is not shown again.`);
    });

  webhook
    .command("list")
    .description("lists an owner's destinations, in the order in which they were made")
    .addOption(ownerOption())
    .addOption(jsonOption())
    .action(async ({ owner, json }: OwnerOptions) => {
      const response = await withDispatcher(env, (dispatcher) => dispatcher.listDestinations({ ownerId: owner }));
      const destinations = response.destinations.map(presentDestination);
      const columns = ["destination_id", "name", "request_type", "url", "status"];
      const text = formatTable(columns, destinations);
      print(json, { destinations }, destinations.length > 0 ? text : `${owner} has no destinations yet.`);
    });

  webhook
    .command("update")
    .description("changes a destination; what is not given stays")
    .argument("<destination_id>")
    .addOption(ownerOption())
    .option("--name <name>", "up to 100 characters")
    .option("--url <url>", "starting with https://")
    .addOption(requestTypeOption())
    .addOption(new Option("--enable", "send to it again").conflicts("disable"))
    .option("--disable", "send nothing more; what is pending is cancelled")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nExample:\n  $ bun run parley webhook update whd_… --owner own_… --url https://crm.example/new",
    )
    .action(async (destinationId: string, { owner, name, url, requestType, enable, disable, json }: ChangeOptions) => {
      const enabled = enable ? true : disable ? false : undefined;
      const { destination } = await withDispatcher(env, (dispatcher) =>
        dispatcher.updateDestination({
          ownerId: owner,
          destinationId,
          name,
          url,
          requestType: numberOf(REQUEST_TYPES, requestType),
          enabled,
        }),
      );
      const fields = presentDestination(destination);
      print(json, fields, formatRecord(fields));
    });

  webhook
    .command("rotate")
    .description("gives a destination a new secret, shown this once; the old one stays valid for 24 hours")
    .argument("<destination_id>")
    .addOption(ownerOption())
    .addOption(jsonOption())
    .action(async (destinationId: string, { owner, json }: OwnerOptions) => {
      const { secret, oldSecretValidUntil } = await withDispatcher(env, (dispatcher) =>
        dispatcher.rotateSecret({ ownerId: owner, destinationId }),
      );
      const validUntil = oldSecretValidUntil?.toISOString() ?? null;
      const fields = { destination_id: destinationId, secret, old_secret_valid_until: validUntil };
      print(json, fields, `${formatRecord(fields)}\n\nKeep the secret now: it is not shown again.`);
    });

  webhook
    .command("test")
    .description("sends a sample conversation.completed and shows how its first attempt went")
    .argument("<destination_id>")
    .addOption(ownerOption())
    .addOption(jsonOption())
    .action(async (destinationId: string, { owner, json }: OwnerOptions) => {
      const delivery = await withDispatcher(env, async (dispatcher) => {
        const { deliveryId } = await dispatcher.sendTestEvent({ ownerId: owner, destinationId });
        return attempted(dispatcher, owner, deliveryId);
      });
      print(json, presentDelivery(delivery), formatDelivery(delivery));
    });

  webhook
    .command("delete")
    .description("deletes a destination; what is pending is cancelled, its deliveries stay in the log")
    .argument("<destination_id>")
    .addOption(ownerOption())
    .addOption(jsonOption())
    .action(async (destinationId: string, { owner, json }: OwnerOptions) => {
      await withDispatcher(env, (dispatcher) => dispatcher.deleteDestination({ ownerId: owner, destinationId }));
      print(json, { destination_id: destinationId, deleted: true }, `Deleted ${destinationId}.`);
    });
}

function requestTypeOption(): Option {
  return new Option("--request-type <method>", "how events are sent").choices(namesOf(REQUEST_TYPES));
}

/** A delivery once its first attempt has ended, or as it is when that takes too long. */
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
