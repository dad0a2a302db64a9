import { Elysia } from "elysia";
import style from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import script from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import { addCommonHeaders } from "../http/request-id.ts";

/** The document at `/openapi.json` and a page to browse it at `/docs`, all from this process. */
export function docsRoutes(document: () => object) {
  let json: string | null = null;
  return new Elysia()
    .onAfterHandle(addCommonHeaders)
    .get("/openapi.json", () => {
      json ??= JSON.stringify(document());
      return new Response(json, { headers: { "Content-Type": "application/json; charset=utf-8" } });
    })
    .get(
      "/docs",
      () => new Response(PAGE, { headers: { ...PAGE_HEADERS, "Content-Type": "text/html; charset=utf-8" } }),
    )
    .get(
      "/docs/swagger-ui.js",
      () => new Response(Bun.file(script), { headers: { "Content-Type": "text/javascript" } }),
    )
    .get("/docs/swagger-ui.css", () => new Response(Bun.file(style), { headers: { "Content-Type": "text/css" } }))
    .get("/docs/start.js", () => new Response(START, { headers: { "Content-Type": "text/javascript" } }));
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
