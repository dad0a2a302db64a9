import { Elysia } from "elysia";
import style from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import script from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import { compressedForms, staticAsset } from "../http/answer/static-asset.ts";
import { addCommonHeaders } from "../http/request-id.ts";
import look from "./docs-look.css" with { type: "file" };

/** Serves the document at `/openapi.json` and a page to browse it at `/docs`, without any other host. */
export function docsRoutes(document: () => object) {
  const text = (read: () => string, type: string, headers = {}) =>
    staticAsset(
      compressedForms(async () => new TextEncoder().encode(read())),
      {
        "Content-Type": `${type}; charset=utf-8`,
        ...headers,
      },
    );
  const file = (path: string, type: string) =>
    staticAsset(
      compressedForms(() => Bun.file(path).bytes()),
      { "Content-Type": `${type}; charset=utf-8` },
    );
  const assets = {
    "/openapi.json": text(() => JSON.stringify(document()), "application/json"),
    "/docs": text(() => PAGE, "text/html", PAGE_HEADERS),
    "/docs/swagger-ui.js": file(script, "text/javascript"),
    "/docs/swagger-ui.css": file(style, "text/css"),
    "/docs/look.css": file(look, "text/css"),
    "/docs/start.js": text(() => START, "text/javascript"),
  };
  const routes = new Elysia().onAfterHandle(addCommonHeaders);
  for (const [path, asset] of Object.entries(assets)) routes.get(path, ({ request }) => asset(request));
  return routes;
}

const PAGE_HEADERS = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "Referrer-Policy": "no-referrer",
};

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Parley API</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="stylesheet" href="/docs/look.css">
  </head>
  <body>
    <header>
      <span>
        <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
          <rect width="32" height="32" rx="8" fill="#4f46e5" />
          <path d="M9 12.5v7M14 8v16M19 11v10M24 14v4" stroke="#fff" stroke-width="2.6" stroke-linecap="round" />
        </svg>
        Parley API
      </span>
      <a href="/">Dashboard</a>
    </header>
    <main id="reference"></main>
    <script src="/docs/swagger-ui.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

const START = `document.documentElement.classList.toggle("dark-mode", matchMedia("(prefers-color-scheme: dark)").matches);
SwaggerUIBundle({ url: "/openapi.json", dom_id: "#reference", deepLinking: true, defaultModelsExpandDepth: 0 });
`;
