import { Suspense } from "react";
import { renderToReadableStream } from "react-dom/server";
import { deferredScript } from "../ui/deferred.tsx";

/** The HTML of a part of a page whose script is imported so. */
export async function renderedDeferred(load: () => Promise<string>): Promise<string> {
  const Part = deferredScript(load).component((text) => () => <p>{text}</p>);
  const stream = await renderToReadableStream(
    <Suspense fallback={null}>
      <Part />
    </Suspense>,
  );
  await stream.allReady;
  return new Response(stream).text();
}
