"""Small ensembles, and oracles for SER and SSER that share no code with them."""

import numpy as np


def ensemble(seed: int, queries: int = 12, rankers: int = 6, *, coarse: bool = False, grades: int = 3):
    """Scores (coarse ones have many ties), grades and query ids; lists of 2 to 14 documents."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 15, queries)
    query = np.repeat(np.arange(queries), sizes)
    X = rng.random((len(query), rankers))
    y = np.clip((grades * (0.7 * X[:, 0] + 0.3 * X[:, 1]) + rng.normal(0, 0.4, len(X))).astype(int), 0, grades - 1)
    return np.round(4 * X) / 4 if coarse else X, y, query


def brute_force_trace(scores, y, theta, delta, ties):
    """tr(A^T R) of one query and ranker, entry by entry, eq. 5 and 6; grades 2, 1, 0 are +1, 0, -1."""
    n, level = len(y), np.asarray(y) - 1
    prefer = {(1, -1): 1.0, (-1, 1): -1.0, (1, 0): theta, (0, 1): -theta}
    R = np.zeros((n, n))
    for k in range(n):
        for j in range(n):
            if k == j:
                R[k, j] = delta
            elif scores[k] == scores[j]:
                R[k, j] = 0.5 if ties == "half" else float(k < j)
            else:
                R[k, j] = float(scores[k] > scores[j])
    R /= R.sum(axis=0)
    return sum(prefer.get((level[k], level[j]), 0.0) * R[k, j] for k in range(n) for j in range(n))


def reference_optimum(M, B, C, bounded=True):
    """Weights and multipliers of the program by clarabel, with the slacks as variables of their own."""
    import clarabel
    from scipy import sparse

    n, m = B.shape
    P = sparse.block_diag([sparse.csc_matrix(np.triu(M)), sparse.csc_matrix((n, n))]).tocsc()
    rows = [np.hstack([-B, -np.eye(n)]), np.hstack([np.zeros((n, m)), -np.eye(n)])]
    limits = [-np.ones(n), np.zeros(n)]
    if bounded:
        rows.append(np.hstack([-np.eye(m), np.zeros((m, n))]))
        limits.append(np.zeros(m))
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-12
    cones = [clarabel.NonnegativeConeT(sum(map(len, limits)))]
    linear = np.r_[np.zeros(m), np.full(n, C)]
    solved = clarabel.DefaultSolver(
        P, linear, sparse.csc_matrix(np.vstack(rows)), np.concatenate(limits), cones, options
    ).solve()
    return np.array(solved.x[:m]), np.array(solved.z[:n])


def primal(M, B, C, w):
    return 0.5 * w @ M @ w + C * np.maximum(0, 1 - B @ w).sum()


def dual(M, B, alpha, eta):
    v = B.T @ alpha + eta
    return alpha.sum() - 0.5 * v @ np.linalg.solve(M, v)


def brute_force_laplacian(X, k):
    """Eq. 9 for binary edges to the k nearest, all tied ones included, by definition."""
    n = len(X)
    d = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    S = np.zeros((n, n))
    for i in range(n):
        others = sorted(d[i, j] for j in range(n) if j != i)
        limit = others[min(k, n - 1) - 1]
        for j in range(n):
            if j != i and d[i, j] <= limit * (1 + 1e-9):
                S[i, j] = 1
    S = np.maximum(S, S.T)
    root = np.diag(1 / np.sqrt(S.sum(axis=1)))
    return np.eye(n) - root @ S @ root, S
