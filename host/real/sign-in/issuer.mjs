// An authorization server of the package `oidc-provider`, which registers clients, asks for PKCE, and gives JWTs for
// one resource: `node issuer.mjs PORT RESOURCE SECONDS`, where access tokens live so many seconds.
import { Provider } from "oidc-provider";

const [port, resource, seconds] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const provider = new Provider(issuer, {
    clientAuthMethods: ["none", "client_secret_basic", "client_secret_post"],
    pkce: { required: () => true },
    scopes: ["openid", "offline_access", "tools"],
    issueRefreshToken: async (_, client) => client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
    ttl: { AccessToken: Number(seconds), Grant: 3600, Interaction: 3600, RefreshToken: 3600, Session: 3600 },
    features: {
        devInteractions: { enabled: true },
        registration: { enabled: true },
        revocation: { enabled: true },
        resourceIndicators: {
            enabled: true,
            defaultResource: () => resource,
            useGrantedResource: () => true,
            getResourceServerInfo: (_, indicator) => {
                if (indicator !== resource) throw new Error(`another resource: ${indicator}`);
                return { scope: "tools", audience: resource, accessTokenFormat: "jwt", accessTokenTTL: Number(seconds) };
            },
        },
    },
});
// The requests, for the test to check.
provider.use(async (context, next) => {
    await next();
    console.log(context.method, context.path, context.status);
});
provider.listen(Number(port), "127.0.0.1", () => console.log("listening"));
