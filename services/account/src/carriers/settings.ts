import type { CarrierSettings } from "@parley/proto/parley/account/v1/account.ts";
import {
  CARRIER_PROVIDERS,
  type CarrierField,
  type CarrierProvider,
  carrierFields,
} from "@parley/shared/domain/carriers";
import { isPrivateRange, openBitsOf } from "@parley/shared/egress/address";
import { ServiceError, type Violation } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import { isMobileNumber } from "../mobile-number.ts";

const ADDRESSES_MAX = 100;
/** Of a range of public addresses. Whoever can send from one of them can call the owner's agents. */
const OPEN_BITS_MAX = { ipv4: 12, ipv6: 80 };
/** Characters of a wrong address that its error has. */
const SHOWN_MAX = 50;
const PRINTABLE = /^[\x21-\x7e]([\x20-\x7e]{0,254}[\x21-\x7e])?$/;

type Check = readonly [isRight: (text: string) => boolean, must: string];

/** Every other field is printable ASCII without space at its ends. */
const CHECKS: Partial<Record<CarrierField, Check>> = {
  accountSid: [(text) => /^AC[0-9a-fA-F]{32}$/.test(text), "be a Twilio account SID: AC and 32 hexadecimal digits"],
  authId: [
    (text) => /^[MS]A[0-9A-Z]{18}$/.test(text),
    "be a Plivo auth ID: MA or SA and 18 capital letters and digits",
  ],
  host: [isHost, "be a host name or an IP address, with a port if it is not the SIP default"],
  // As the user of a SIP URI may be (RFC 3261, section 25.1), but without parameters of its own, which begin with a semicolon.
  username: [
    (text) => /^[\w.!~*'()&=+$,?/%-]{1,256}$/.test(text),
    "be a SIP user name of 1 to 256 letters, digits and characters of -_.!~*'()&=+$,?/%",
  ],
  transport: [(text) => ["UDP", "TCP", "TLS"].includes(text), "be UDP, TCP or TLS"],
  phoneNumberId: [(text) => /^\d{5,32}$/.test(text), "be the number's ID of WhatsApp Manager, which has digits only"],
  mobileNumber: [isMobileNumber, "be a phone number in E.164 form, such as +14155550123"],
  agentId: [(text) => isId("agt", text), "be the ID of an agent, agt_…"],
};

/** The fields of all providers, by their names in the protocol. */
const API_NAMES = new Map(
  (Object.keys(CARRIER_PROVIDERS) as CarrierProvider[])
    .flatMap(carrierFields)
    .map(({ field, rule }) => [field, rule.api] as const),
);

/**
 * The fields of a provider, with SIP's default transport.
 * @throws ServiceError invalid, naming every field that is missing, wrong or not the provider's
 */
export function checkedSettings(provider: CarrierProvider, given: CarrierSettings): CarrierSettings {
  const rules = carrierFields(provider);
  const violations: Violation[] = [];
  const refuse = (path: string, must: string) => violations.push({ path, message: `${path} ${must}` });
  for (const { field, rule } of rules) {
    const value = given[field];
    const [isRight, must] = CHECKS[field] ?? [
      (text: string) => PRINTABLE.test(text),
      "be 1 to 256 printable ASCII characters",
    ];
    if (field === "allowedAddresses") {
      if (given.allowedAddresses.length > ADDRESSES_MAX)
        refuse(rule.api, `must have at most ${ADDRESSES_MAX} IP addresses and CIDRs`);
      else refuseWrongAddresses(rule.api, given.allowedAddresses, refuse);
    } else if (value === undefined || value === "") {
      if (!rule.isOptional) refuse(rule.api, "is required");
    } else if (!isRight(String(value))) refuse(rule.api, `must ${must}`);
  }
  const names = rules.map(({ rule }) => rule.api);
  for (const [field, name] of API_NAMES) {
    if (isGiven(given[field]) && !names.includes(name))
      refuse(name, `is not taken by ${provider}, which takes ${names.join(", ")}`);
  }
  if (violations.length > 0)
    throw new ServiceError("invalid", violations.map(({ message }) => message).join("; "), { violations });
  return provider === "SIP" ? { ...given, transport: given.transport || "UDP" } : given;
}

function refuseWrongAddresses(api: string, addresses: readonly string[], refuse: (path: string, must: string) => void) {
  for (const [at, text] of addresses.entries()) {
    const openBits = openBitsOf(text);
    const told = JSON.stringify(text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text);
    if (openBits === null) refuse(`${api}.${at}`, `must be an IP address or a CIDR such as 192.0.2.0/24, not ${told}`);
    else if (openBits > (text.includes(":") ? OPEN_BITS_MAX.ipv6 : OPEN_BITS_MAX.ipv4) && !isPrivateRange(text))
      refuse(`${api}.${at}`, `must be a range of your carrier's alone, /20 or smaller (/48 for IPv6), not ${told}`);
  }
}

/** The text that distinguishes an account from the owner's others with the same provider. */
export function accountOf(provider: CarrierProvider, settings: CarrierSettings): string {
  return CARRIER_PROVIDERS[provider].account.map((field) => settings[field] ?? "").join(" ");
}

function isGiven(value: string | string[] | undefined): boolean {
  return value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0);
}

function isHost(text: string): boolean {
  const [, name = "", port] = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]{1,253})(?::(\d{1,5}))?$/.exec(text) ?? [];
  return name !== "" && (port === undefined || (Number(port) >= 1 && Number(port) <= 65_535));
}
