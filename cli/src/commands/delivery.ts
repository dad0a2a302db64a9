import type { Delivery } from "@parley/proto/parley/webhook/v1/webhook.ts";
import { DELIVERY_STATUSES, namesOf, numberOf } from "@parley/shared/api-names";
import { type Command, Option } from "commander";
import { type Environment, withDispatcher } from "../connection.ts";
import { jsonOption, ownerOption, parseTime, parseWholeNumber } from "../options.ts";
import { presentDelivery } from "../present.ts";
import { formatRecord, formatTable, print } from "../print.ts";

interface ListOptions {
  owner: string;
  destination?: string;
  conversation?: string;
  status?: keyof typeof DELIVERY_STATUSES;
  page: number;
  pageSize: number;
  json?: boolean;
}

interface ResendOptions {
  owner: string;
  destination?: string;
  since?: Date;
  json?: boolean;
}

export function addDeliveryCommands(program: Command, env: Environment): void {
  const delivery = program
    .command("delivery")
    .description("what was sent to an owner's destinations in the last 30 days, and how it went")
    .addHelpText(
      "after",
      `
Examples:
  $ bun run parley delivery list --owner own_… --status failed
  $ bun run parley delivery resend dlv_… --owner own_…`,
    );

  delivery
    .command("list")
    .description("lists deliveries, newest first")
    .addOption(ownerOption())
    .option("--destination <destination_id>", "of this destination")
    .option("--conversation <conversation_id>", "of this conversation")
    .addOption(new Option("--status <status>", "of this status").choices(namesOf(DELIVERY_STATUSES)))
    .addOption(new Option("--page <number>").argParser(parseWholeNumber).default(1))
    .addOption(new Option("--page-size <number>").argParser(parseWholeNumber).default(20))
    .addOption(jsonOption())
    .action(async ({ owner, destination = "", conversation = "", status, page, pageSize, json }: ListOptions) => {
      const { deliveries, total } = await withDispatcher(env, (dispatcher) =>
        dispatcher.listDeliveries({
          ownerId: owner,
          page: { number: page, size: pageSize },
          destinationId: destination,
          conversationId: conversation,
          status: numberOf(DELIVERY_STATUSES, status),
        }),
      );
      const document = { deliveries: deliveries.map(presentDelivery), total, page, page_size: pageSize };
      print(json, document, deliveries.length > 0 ? tableOf(deliveries) : "There are no such deliveries.");
    });

  delivery
    .command("resend")
    .description("sends a delivery again, or all that failed of a destination since a time")
    .argument("[delivery_id]")
    .addOption(ownerOption())
    .option("--destination <destination_id>", "all that failed of this destination")
    .option("--since <time>", "of deliveries from this date or time on", parseTime)
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Examples:
  $ bun run parley delivery resend dlv_… --owner own_…
  $ bun run parley delivery resend --destination whd_… --since 2030-01-31T12:00:00Z --owner own_…`,
    )
    .action(
      async (deliveryId: string | undefined, { owner, destination, since, json }: ResendOptions, command: Command) => {
        if ((deliveryId === undefined) === (destination === undefined))
          command.error("error: name a delivery, or a destination with --destination and --since");
        if (deliveryId !== undefined) {
          const response = await withDispatcher(env, (dispatcher) =>
            dispatcher.resendDelivery({ ownerId: owner, deliveryId }),
          );
          print(json, presentDelivery(response.delivery), formatDelivery(response.delivery));
          return;
        }
        const { resent } = await withDispatcher(env, (dispatcher) =>
          dispatcher.resendFailedDeliveries({ ownerId: owner, destinationId: destination ?? "", since }),
        );
        print(json, { resent }, `Sending ${resent} failed ${resent === 1 ? "delivery" : "deliveries"} again.`);
      },
    );
}

/** A delivery's fields, and a line for each attempt. */
export function formatDelivery(delivery: Delivery | undefined): string {
  const { attempts, ...fields } = presentDelivery(delivery);
  const columns = ["number", "started_at", "duration_ms", "http_status", "error"];
  return [formatRecord(fields), ...(attempts.length > 0 ? ["", formatTable(columns, attempts)] : [])].join("\n");
}

function tableOf(deliveries: readonly Delivery[]): string {
  const rows = deliveries.map(presentDelivery).map(({ attempts, ...delivery }) => ({
    ...delivery,
    attempts: attempts.length,
    last: attempts.at(-1)?.error ?? attempts.at(-1)?.http_status ?? null,
  }));
  return formatTable(["delivery_id", "destination_id", "event", "status", "attempts", "last", "created_at"], rows);
}
