import { isObject } from "@parley/shared/json/json-object";
import { storable } from "../store/storable.ts";

const REASON_MAX = 500;
const MASK = "****";
/** A shorter key is a placeholder, such as those that servers without keys are given. */
const SECRET_MIN = 6;

/**
 * The reason that a provider gives for an error, on one line and cut to 500 characters; empty when it gives none. Keys are masked.
 * @param error the body of the response, or the error that a stream reports
 * @param secrets what the request was sent with
 */
export function upstreamReason(error: unknown, secrets: readonly string[]): string {
  const line = storable(textIn(error, 0)).toWellFormed().replaceAll(/\s+/g, " ").trim();
  const masked = masks(secrets).reduce<string>((text, mask) => text.replaceAll(mask, MASK), line);
  return masked.length > REASON_MAX ? `${masked.slice(0, REASON_MAX - 1).toWellFormed()}…` : masked;
}

/** Where servers state a reason, the more telling fields first. */
const FIELDS: readonly string[] = [
  ...["message", "detail", "details", "msg", "error", "errors", "reason", "title", "description", "error_description"],
  ...["body", "type", "code"],
];
const DEPTH_MAX = 4;

function textIn(value: unknown, depth: number): string {
  if (depth > DEPTH_MAX) return "";
  if (typeof value === "string") return textOf(value.trim(), depth);
  if (Array.isArray(value))
    return textIn(
      value.find((each) => textIn(each, depth + 1) !== ""),
      depth + 1,
    );
  if (!isObject(value)) return "";
  const texts = FIELDS.map((field) => textIn(value[field], depth + 1));
  const text = texts.find((each) => each !== "") ?? "";
  // FastAPI names the field of the request, and OpenRouter gives the words of the provider that it asked.
  const place = Array.isArray(value.loc) ? `${value.loc.join(".")}: ` : "";
  const raw = isObject(value.metadata) ? textIn(value.metadata.raw, depth + 1) : "";
  return `${place}${text}${raw === "" ? "" : `: ${raw}`}`;
}

function textOf(text: string, depth: number): string {
  // The pages of proxies say nothing about the request.
  if (text.startsWith("<")) return "";
  if (!/^[{[]/.test(text)) return text;
  try {
    return textIn(JSON.parse(text), depth + 1);
  } catch {
    return text;
  }
}

/** What is masked in part already, and keys, tokens and accounts in the forms that are known. */
const KEYS: readonly RegExp[] = [
  /[\w-]*\*{3,}[\w-]*/g,
  /\b(?:sk|pk|rk|gsk|xai|hf|r8|pplx|nvapi|fw|csk|org|proj)[-_][\w.*-]{4,}/g,
  /\bAIza[\w-]{10,}/g,
  /\beyJ[\w-]{10,}(?:\.[\w-]+)*/g,
  /(?<=\b(?:bearer|basic)\s+)[^\s"',;]+/gi,
  /(?<=\b(?:api[-_ ]?key|access[-_]?token|token|secret|password|key)["']?\s*[=:]\s*["']?)[^\s"',;&)}\]]{6,}/gi,
];

function masks(secrets: readonly string[]): (string | RegExp)[] {
  return [...secrets.filter((secret) => secret.length >= SECRET_MIN), ...KEYS];
}
