import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createQueryClient } from "./api/query-client.ts";
import { createAppRouter } from "./app/routes.tsx";
import { applyTheme } from "./app/theme.ts";
import { Toasts } from "./ui/overlay/toasts.tsx";
import { TooltipProvider } from "./ui/overlay/tooltip.tsx";

applyTheme();
const queryClient = createQueryClient(toSignIn);
const router = createAppRouter(queryClient);

function toSignIn(): void {
  const { pathname, href } = router.state.location;
  if (pathname !== "/sign-in") router.navigate({ to: "/sign-in", search: { next: href } });
}

const container = document.getElementById("root");
if (container)
  createRoot(container).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <TooltipProvider delayDuration={300}>
          <RouterProvider router={router} />
          <Toasts />
        </TooltipProvider>
      </QueryClientProvider>
    </StrictMode>,
  );
