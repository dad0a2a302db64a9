import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createQueryClient } from "./api/query-client.ts";
import { createAppRouter, load } from "./app/routes.tsx";
import { applyTheme } from "./app/theme.ts";
import { Toasts } from "./ui/overlay/toasts.tsx";

applyTheme();
const queryClient = createQueryClient(toSignIn);
const router = createAppRouter(queryClient);

function toSignIn(): void {
  const { pathname, href } = router.state.location;
  if (pathname !== "/sign-in") router.navigate({ to: "/sign-in", search: { next: href } });
}

/** How long a page may load before the loading state is shown, in milliseconds. */
const BLANK_MAX_MS = 500;
// React shows nothing for 300 ms after it has rendered a page that is still loading.
await Promise.race([load(router), new Promise((resolve) => setTimeout(resolve, BLANK_MAX_MS))]);

const container = document.getElementById("root");
if (container)
  createRoot(container).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Toasts />
      </QueryClientProvider>
    </StrictMode>,
  );
