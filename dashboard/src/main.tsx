import "./app/shared.ts";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, useLayoutEffect } from "react";
import { createRoot } from "react-dom/client";
import { createQueryClient } from "./api/query-client.ts";
import { meQuery } from "./api/session.ts";
import { createAppRouter, load } from "./app/routes.tsx";
import { Toasts } from "./ui/overlay/toasts.tsx";

const queryClient = createQueryClient(toSignIn);
const router = createAppRouter(queryClient);

function toSignIn(): void {
  const { pathname, href } = router.state.location;
  if (pathname === "/sign-in") return;
  const wasSignedIn = queryClient.getQueryData(meQuery.queryKey) !== undefined;
  router.navigate({ to: "/sign-in", search: { next: href, ...(wasSignedIn && { ended: true }) }, replace: true });
}

/** How long a page may load before the loading state is shown, in milliseconds. */
const BLANK_MAX_MS = 500;
const container = document.getElementById("root");
if (container) {
  // React shows nothing for 300 ms after it has rendered a page that is still loading. A page's frame says that it is.
  const patience = container.hasChildNodes() ? [] : [new Promise((resolve) => setTimeout(resolve, BLANK_MAX_MS))];
  await Promise.race([load(router), ...patience]);
  createRoot(container).render(
    <StrictMode>
      <Alive root={container} />
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Toasts />
      </QueryClientProvider>
    </StrictMode>,
  );
}

/** A frame takes no input, because nothing would handle it. First of its siblings, so that what they focus can have the focus. */
function Alive({ root }: { root: HTMLElement }) {
  useLayoutEffect(() => {
    root.inert = false;
  }, [root]);
  return null;
}
