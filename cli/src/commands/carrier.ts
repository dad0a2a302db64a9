import type { Carrier } from "@parley/proto/parley/account/v1/account.ts";
import { CARRIER_CALL_MS } from "@parley/shared/carriers/rest";
import { ConfigError } from "@parley/shared/config";
import { CARRIER_PROVIDERS, type CarrierProvider, carrierFields } from "@parley/shared/domain/carriers";
import {
  presentCarrier,
  presentCarrierNumber,
  presentRegistration,
  presentSip,
  readCarrierSettings,
  type ShownRegistration,
} from "@parley/shared/domain/present/carrier";
import { ServiceError } from "@parley/shared/errors";
import { type JsonObject, parseObject } from "@parley/shared/json/json-object";
import { Argument, type Command } from "commander";
import { type Environment, withAccount, withVoice } from "../connection.ts";
import { examples, type OwnerOptions, ownerVerb } from "../options.ts";
import { presentOwnNumber } from "../present.ts";
import { formatRecord, formatTable, print, printRecord } from "../print.ts";
import { readStdin } from "../stdin.ts";

/** How long a command waits for the account service, which asks the carrier in the meantime. */
const PATIENT = { timeoutMs: CARRIER_CALL_MS };
const PROVIDERS = Object.keys(CARRIER_PROVIDERS) as CarrierProvider[];

export function addCarrierCommands(program: Command, env: Environment): void {
  const carrier = program
    .command("carrier")
    .description("Connect an owner's accounts with carriers and other providers of channels")
    .addHelpText(
      "after",
      examples(
        program,
        "carrier connect twilio --owner own_… < twilio.json",
        "carrier numbers car_… --owner own_…",
        "carrier import car_… +14155550123 --owner own_…",
      ),
    );

  ownerVerb(carrier, "connect")
    .description("Connect an account, after verifying its credentials; connecting it again replaces them")
    .addArgument(new Argument("<provider>", "The provider").choices(PROVIDERS.map((name) => name.toLowerCase())))
    .addHelpText(
      "after",
      `
Reads the account from standard input as a JSON object with these fields:
${PROVIDERS.map((provider) => `  ${provider.padEnd(8)}  ${fieldsOf(provider)}`).join("\n")}
${examples(program, `carrier connect twilio --owner own_… <<< '{ "account_sid": "AC…", "auth_token": "…" }'`)}`,
    )
    .action(async (given: string, { owner, json }: OwnerOptions, command: Command) => {
      const provider = given.toUpperCase();
      const settings = readCarrierSettings(readFields(await readStdin(), command));
      const response = await withAccount(env, (account) =>
        account.connectCarrier({ ownerId: owner, provider, settings }, PATIENT),
      );
      await show(response.carrier, json);
    });

  ownerVerb(carrier, "list")
    .description("List an owner's carriers, oldest first")
    .action(async ({ owner, json }: OwnerOptions) => {
      const { carriers } = await withAccount(env, (account) => account.listCarriers({ ownerId: owner }));
      const { registrationOf } = await trunksOf(env, owner, carriers);
      const all = carriers.map((carrier) => ({ ...presentCarrier(carrier), registration: registrationOf(carrier) }));
      const rows = all.map((carrier) => ({ ...carrier, registration: carrier.registration?.state ?? null }));
      const text = formatTable(["carrier_id", "provider", "registration", "created_at"], rows);
      await print(json, { carriers: all }, all.length > 0 ? text : `${owner} has no carriers yet.`);
    });

  ownerVerb(carrier, "show")
    .description(
      "Show a carrier with its secrets masked, and of a SIP trunk the state of its registration, or where it sends its calls",
    )
    .argument("<carrier_id>")
    .action(async (carrierId: string, { owner, json }: OwnerOptions) => {
      const { carrier } = await withAccount(env, (account) => account.getCarrier({ ownerId: owner, carrierId }));
      if (!carrier) throw new Error("the service answered with an empty message");
      const { registrationOf, sip } = await trunksOf(env, owner, [carrier]);
      const registration = registrationOf(carrier);
      const fields = { ...presentCarrier(carrier), ...(registration?.state === "NOT_REGISTERING" && sip) };
      const text = formatRecord({ ...fields, registration: registration && inWords(registration) });
      await print(json, { ...fields, registration }, text);
    });

  ownerVerb(carrier, "numbers")
    .description("List the phone numbers that the account has at the carrier")
    .argument("<carrier_id>")
    .action(async (carrierId: string, { owner, json }: OwnerOptions) => {
      const response = await withAccount(env, (account) =>
        account.listCarrierNumbers({ ownerId: owner, carrierId }, PATIENT),
      );
      const numbers = response.numbers.map(presentCarrierNumber);
      const text = formatTable(["mobile_number", "name", "takes_calls", "imported"], numbers);
      await print(json, { numbers }, numbers.length > 0 ? text : "The carrier lists no phone numbers.");
    });

  ownerVerb(carrier, "import")
    .description("Import a phone number, so that its calls reach Parley")
    .argument("<carrier_id>")
    .argument("<mobile_number>", "The number in E.164 form, such as +14155550123")
    .action(async (carrierId: string, mobileNumber: string, { owner, json }: OwnerOptions) => {
      const request = { ownerId: owner, carrierId, mobileNumber };
      const response = await withAccount(env, (account) => account.importCarrierNumber(request, PATIENT));
      await printRecord(json, presentOwnNumber(response.mobileNumber));
    });

  ownerVerb(carrier, "disconnect")
    .description("Disconnect a carrier that has no phone numbers left")
    .argument("<carrier_id>")
    .action(async (carrierId: string, { owner, json }: OwnerOptions) => {
      await withAccount(env, (account) => account.disconnectCarrier({ ownerId: owner, carrierId }));
      await print(json, { carrier_id: carrierId, disconnected: true }, `Disconnected ${carrierId}.`);
    });
}

/** @param command shows how to use it if the text is wrong */
function readFields(text: string, command: Command): JsonObject {
  const fields = parseObject(text);
  return fields ?? command.error("error: standard input must be a JSON object with the fields of the account");
}

function fieldsOf(provider: CarrierProvider): string {
  const fields = carrierFields(provider).map(({ rule }) => (rule.isOptional ? `[${rule.api}]` : rule.api));
  return fields.join(", ");
}

type Registration = Omit<ShownRegistration, "state"> & { state: ShownRegistration["state"] | "UNKNOWN" };

interface Trunks {
  registrationOf(carrier: Carrier): Registration | null;
  /** Where trunks send their calls, unless they use a registration; null if the voice service did not answer. */
  sip: ReturnType<typeof presentSip> | null;
}

/** How SIP trunks stand. The voice service is asked only if there are any, and an account is shown even without its answer. */
async function trunksOf(env: Environment, ownerId: string, carriers: readonly Carrier[]): Promise<Trunks> {
  const none = { registrations: [], hasSip: true };
  if (!carriers.some(({ provider }) => provider === "SIP")) return { registrationOf: () => null, sip: null };
  try {
    const known = await withVoice(env, (voice) => voice.listTrunkRegistrations({ ownerId }));
    return { registrationOf: (carrier) => presentRegistration(carrier, known), sip: presentSip(known) };
  } catch (error) {
    if (!(error instanceof ServiceError || error instanceof ConfigError)) throw error;
    const reason = error.message;
    const registrationOf = (carrier: Carrier): Registration | null => {
      const shown = presentRegistration(carrier, none);
      return shown?.state === "REGISTERING" ? { ...shown, state: "UNKNOWN", reason } : shown;
    };
    return { registrationOf, sip: null };
  }
}

function inWords({ state, since, sip_status, reason }: Registration): string {
  const why = [sip_status, reason].filter((part) => part !== null).join(" ");
  return [state, since && `since ${since}`, why].filter(Boolean).join(", ");
}

function show(carrier: Carrier | undefined, json: boolean | undefined): Promise<void> {
  if (!carrier) throw new Error("the service answered with an empty message");
  return printRecord(json, presentCarrier(carrier));
}
