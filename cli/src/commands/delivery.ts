import type { Delivery } from "@parley/proto/parley/webhook/v1/webhook.ts";
import { DELIVERY_STATUSES, namesOf, numberOf } from "@parley/shared/domain/api-names";
import { EVENT_NAMES } from "@parley/shared/portable/events";
import { type Command, Option } from "commander";
import { type Environment, requireOwner, withDispatcher } from "../connection.ts";
import { examples, ownerVerb, parseTime, parseWholeNumber } from "../options.ts";
import { presentDelivery } from "../present.ts";
import { formatPage, formatRecord, formatTable, pagesOf, print } from "../print.ts";

interface ListOptions {
  owner: string;
  destination?: string;
  conversation?: string;
  status?: keyof typeof DELIVERY_STATUSES;
  event?: string;
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
    .description("Show and resend an owner's webhook deliveries of the last 30 days")
    .addHelpText(
      "after",
      examples(program, "delivery list --owner own_… --status failed", "delivery resend dlv_… --owner own_…"),
    );

  ownerVerb(delivery, "list")
    .description("List deliveries, newest first")
    .option("--destination <destination_id>", "Only deliveries to this destination")
    .option("--conversation <conversation_id>", "Only deliveries of this conversation")
    .addOption(new Option("--status <status>", "Only deliveries with this status").choices(namesOf(DELIVERY_STATUSES)))
    .addOption(new Option("--event <event>", "Only deliveries of this event").choices(EVENT_NAMES))
    .addOption(new Option("--page <number>", "Page to show, starting at 1").argParser(parseWholeNumber).default(1))
    .addOption(
      new Option("--page-size <number>", "Deliveries on a page, 1 to 100").argParser(parseWholeNumber).default(20),
    )
    .action(
      async ({ owner, destination = "", conversation = "", status, event, page, pageSize, json }: ListOptions) => {
        const wanted = { number: page, size: pageSize };
        const { deliveries, total } = await withDispatcher(env, (dispatcher) =>
          dispatcher.listDeliveries({
            ownerId: owner,
            page: wanted,
            destinationId: destination,
            conversationId: conversation,
            status: numberOf(DELIVERY_STATUSES, status),
            event,
          }),
        );
        if (total === 0) await requireOwner(env, owner);
        const figures = { total, page, page_size: pageSize, total_pages: pagesOf(wanted, total) };
        const document = { deliveries: deliveries.map(presentDelivery), ...figures };
        await print(json, document, listOf(deliveries, wanted, total));
      },
    );

  ownerVerb(delivery, "resend")
    .description("Send a delivery again, or all deliveries to a destination that failed since a time")
    .argument("[delivery_id]", "The delivery to send again")
    .option("--destination <destination_id>", "Resend the failed deliveries to this destination; needs --since")
    .option("--since <time>", "Only failed deliveries since this date or time; needs --destination", parseTime)
    .addHelpText(
      "after",
      examples(
        program,
        "delivery resend dlv_… --owner own_…",
        "delivery resend --destination whd_… --since 2030-01-31T12:00:00Z --owner own_…",
      ),
    )
    .action(
      async (deliveryId: string | undefined, { owner, destination, since, json }: ResendOptions, command: Command) => {
        const isOne = deliveryId !== undefined && destination === undefined && since === undefined;
        const isAll = deliveryId === undefined && destination !== undefined && since !== undefined;
        if (!isOne && !isAll) command.error("error: give a delivery, or a destination with --destination and --since");
        if (deliveryId !== undefined) {
          const response = await withDispatcher(env, (dispatcher) =>
            dispatcher.resendDelivery({ ownerId: owner, deliveryId }),
          );
          await print(json, presentDelivery(response.delivery), formatDelivery(response.delivery));
          return;
        }
        const { resent } = await withDispatcher(env, (dispatcher) =>
          dispatcher.resendFailedDeliveries({ ownerId: owner, destinationId: destination ?? "", since }),
        );
        await print(json, { resent }, `Sending ${resent} failed ${resent === 1 ? "delivery" : "deliveries"} again.`);
      },
    );
}

/** A delivery's fields, and one line per attempt. */
export function formatDelivery(delivery: Delivery | undefined): string {
  const { attempts, ...fields } = presentDelivery(delivery);
  const columns = ["number", "started_at", "duration_ms", "http_status", "error"];
  return [formatRecord(fields), ...(attempts.length > 0 ? ["", formatTable(columns, attempts)] : [])].join("\n");
}

function listOf(deliveries: readonly Delivery[], page: { number: number; size: number }, total: number): string {
  if (total === 0) return "No deliveries match.";
  if (deliveries.length === 0) return `There is no page ${page.number}: the last one is ${pagesOf(page, total)}.`;
  return `${tableOf(deliveries)}\n\n${formatPage(page, total)}`;
}

function tableOf(deliveries: readonly Delivery[]): string {
  const rows = deliveries.map(presentDelivery).map(({ attempts, ...delivery }) => ({
    ...delivery,
    attempts: attempts.length,
    last: attempts.at(-1)?.error ?? attempts.at(-1)?.http_status ?? null,
  }));
  return formatTable(["delivery_id", "destination_id", "event", "status", "attempts", "last", "created_at"], rows);
}
