import { Elysia } from "elysia";
import type { GateContext } from "../gate.ts";
import { jsonAnswer } from "../http/answer/answers.ts";
import { readText } from "../http/body.ts";
import { observed } from "../http/observe.ts";
import { commonHeaders, requestIdOf } from "../http/request-id.ts";
import { problemOf } from "../problem.ts";
import { refuseOverRate } from "../rate-limit/refuse.ts";

export const CSP_REPORTS = "/csp-reports";

const REPORT_BYTES_MAX = 16 * 1024;
const REPORTS_PER_MINUTE = 30;
const REPORT = /^application\/csp-report\s*(;|$)/i;
const CHARACTERS_MAX = 200;

/** Where browsers report what the dashboard's content security policy blocked; each report is a warning in the log. */
export function cspReportRoutes(gate: Pick<GateContext, "addressLimiter" | "addressOf" | "log">) {
  const respond = async (request: Request): Promise<Response> => {
    const requestId = requestIdOf(request);
    try {
      const decision = await gate.addressLimiter.take(`csp:${gate.addressOf(request)}`, REPORTS_PER_MINUTE);
      refuseOverRate(decision, "Too many reports from this address. Wait a minute.");
      const report = await readText(request, REPORT, "application/csp-report", REPORT_BYTES_MAX);
      gate.log.warn({ request_id: requestId, ...describe(report) }, "the content security policy blocked something");
      return new Response(null, { status: 204, headers: commonHeaders(requestId) });
    } catch (error) {
      const { status, body, headers } = problemOf(error, requestId);
      return jsonAnswer(status, body, new Headers({ ...headers, ...commonHeaders(requestId) }));
    }
  };
  return new Elysia().post(
    CSP_REPORTS,
    ({ request }) => observed("reportCspViolation", request, () => respond(request)),
    { parse: "none" },
  );
}

/** Addresses without their queries, which may hold what someone searched for. */
function describe(text: string): Record<string, string> {
  const report = reportIn(text);
  const shown = (name: string) => {
    const value = report[name];
    return typeof value === "string" ? value.replace(/[?#].*$/s, "").slice(0, CHARACTERS_MAX) : "";
  };
  return {
    directive: shown("effective-directive") || shown("violated-directive"),
    blocked: shown("blocked-uri"),
    page: shown("document-uri"),
    source: shown("source-file"),
  };
}

function reportIn(text: string): Record<string, unknown> {
  try {
    const report = JSON.parse(text)?.["csp-report"];
    return typeof report === "object" && report !== null ? report : {};
  } catch {
    return {};
  }
}
