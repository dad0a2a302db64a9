import { Elysia } from "elysia";
import style from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import script from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import { compressedForms, staticAsset } from "../http/answer/static-asset.ts";
import { addCommonHeaders } from "../http/request-id.ts";

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
  </head>
  <body>
    <main id="reference"></main>
    <script src="/docs/swagger-ui.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

const START = `SwaggerUIBundle({ url: "/openapi.json", dom_id: "#reference", deepLinking: true, defaultModelsExpandDepth: 0 });
`;
