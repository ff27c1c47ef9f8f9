"""What is true of a fit and what proves it: separability, capacity, certificates, and the statistician's summary."""

from discriminant.docstrings import Entries

documented = Entries("""
X : array-like or sparse matrix of shape (n, d)
    The rows.
classes : ndarray of shape (K,)
    The labels, sorted.
level : float
    Of the intervals.
notes : tuple of str
    What else should be known.
y : array-like of shape (n,)
    The labels.
→ ambiguity : Ambiguity
    The shares; exact in the plane, from a sample in more dimensions.
→ certify : Certificate
    The objective of the fit, a lower bound of the minimum, and the gap.
→ check : bool
    True where the proof holds.
→ columns : dict of str to list or ndarray
    Columns by their headings.
→ cover_probability : float
    C(n, d)/2ⁿ.
→ decision_function : ndarray of shape (n,) or (n, K)
    Scores.
→ kesler_construction : KeslerConstruction
    The samples; printed, a table of them.
→ limiting_fit : LimitingFit
    The limit.
→ polygon : ndarray of shape (m, 2)
    Vertices, counter-clockwise.
→ pool : Summary
    With the total covariance, Student's t, and for each coefficient its degrees of freedom ("df") and the share of
    information that is missing ("fmi").
→ predict : ndarray of shape (n,)
    Labels.
→ predict_log_proba : ndarray of shape (n, K)
    Logarithms of probabilities.
→ predict_proba : ndarray of shape (n, K)
    Probabilities, often 0 and 1.
→ removals : Removals
    The rows, and the least number that any such set holds.
→ sample_size : int
    Rows.
→ scores : ndarray of shape (n, K)
    Class scores.
→ separability : Separability
    The verdict with its proof.
→ shatters : Shattering
    The verdict, with a Radon partition where they do not.
→ solution_region : SolutionRegion
    The region.
→ to_frame : data frame
    A row for each coefficient.
→ to_html : str
    A table element and the paragraphs below it.
→ to_latex : str
    A ``tabular``.
→ to_markdown : str
    A pipe table, and what stands below it.
→ vc_dimension : int
    The VC dimension.
→ without_data : Separability
    A copy; ``check`` then asks for the data.
""").documented
