import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "@parley/shared/config";
import { Elysia } from "elysia";
import { readSessionToken } from "../auth/session-cookie.ts";
import { jsonAnswer } from "../http/answer/answers.ts";
import { type Forms, type StaticAsset, staticAsset } from "../http/answer/static-asset.ts";
import { pathOf } from "../http/path.ts";
import { addCommonHeaders } from "../http/request-id.ts";
import { CSP_REPORTS } from "./csp-reports.ts";

/** The web application, as `dashboard/build.ts` leaves it in a folder. */
export interface Dashboard {
  page: StaticAsset;
  /** The page with the frame that shows until its scripts run, by its path; a name or id in it is `_`. */
  frames: ReadonlyMap<string, StaticAsset>;
  /** By name. */
  assets: ReadonlyMap<string, StaticAsset>;
}

/** @throws ConfigError when the folder holds no built dashboard */
export function openDashboard(folder: string): Dashboard {
  const page = join(folder, "index.html");
  const assets = join(folder, "assets");
  if (!existsSync(page) || !existsSync(assets))
    throw new ConfigError(`PARLEY_DASHBOARD ${folder} holds no built dashboard: run \`bun dashboard/build.ts\``);
  const names = namesIn(assets);
  const frames = namesIn(join(folder, "pages")).filter((name) => name.endsWith(".html"));
  return {
    page: asset(page, PAGE_HEADERS),
    frames: new Map(frames.map((name) => [pathFor(name), asset(join(folder, "pages", name), PAGE_HEADERS)])),
    assets: new Map(names.map((name) => [name, asset(join(assets, name), ASSET_HEADERS)])),
  };
}

function namesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => !/\.(gz|zst)$/.test(name));
}

function pathFor(name: string): string {
  return `/${name.replace(/(^index)?\.html$/, "")}`;
}

/** Serves the page at `/` and its files. Addresses of pages within it are answered by `pageFor`. */
export function dashboardRoutes(dashboard: Dashboard) {
  return new Elysia()
    .onAfterHandle(addCommonHeaders)
    .get("/", ({ request }) => pageAt(dashboard, request))
    .get(
      "/assets/:name",
      ({ request, params }) =>
        dashboard.assets.get(params.name)?.(request) ??
        jsonAnswer(404, { detail: "Not found: no such file" }, new Headers()),
    );
}

/**
 * The page for the address of one of the dashboard's pages, which its scripts show; null for a request that is not a
 * browser's for a page, or is for a path that belongs to the API.
 */
export function pageFor(dashboard: Dashboard, request: Request): Promise<Response> | null {
  const wantsPage = /^(GET|HEAD)$/.test(request.method) && request.headers.get("accept")?.includes("text/html");
  return wantsPage && !OF_THE_API.test(pathOf(request)) ? pageAt(dashboard, request) : null;
}

/** Only a visitor who may be signed in gets a frame, because another one is sent to sign in. */
function pageAt({ page, frames }: Dashboard, request: Request): Promise<Response> {
  if (readSessionToken(request) === null) return page(request);
  const path = pathOf(request);
  const frame = frames.get(path) ?? frames.get(path.replace(/[^/]+$/, "_")) ?? page;
  return frame(request);
}

const OF_THE_API = /^\/(v\d+|docs|assets|openapi\.json|healthz|readyz|metrics)(\/|$)/;

/** Names have a hash of the content, so a name's content never changes. */
const ASSET_HEADERS = { "Cache-Control": "public, max-age=31536000, immutable" };
const PAGE_HEADERS = {
  // Components place menus with inline styles. Voices have samples at their providers' addresses.
  "Content-Security-Policy": [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: https:",
    "media-src 'self' blob: https:",
    "connect-src 'self'",
    "object-src 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    `report-uri ${CSP_REPORTS}`,
  ].join("; "),
  "Permissions-Policy": "microphone=(self), camera=(), geolocation=()",
  "Referrer-Policy": "no-referrer",
};

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  png: "image/png",
  woff2: "font/woff2",
};

function asset(path: string, headers: Record<string, string>): StaticAsset {
  const read = (suffix: string) => () => Bun.file(`${path}${suffix}`).bytes();
  const compressed: Partial<Forms> = /\.(png|woff2)$/.test(path) ? {} : { zstd: read(".zst"), gzip: read(".gz") };
  const extension = path.slice(path.lastIndexOf(".") + 1);
  return staticAsset(
    { ...compressed, identity: read("") },
    { "Content-Type": TYPES[extension] ?? "application/octet-stream", ...headers },
  );
}
